import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { test } from 'node:test';
import { anyCharacter } from '../../tests/support/any-text.ts';
import fc from '../../tests/support/property.ts';
import { parseWithArguments } from './exact-json.ts';
import { canonicalJson } from './canonical-json.ts';

/** Names that often collide, and names that objects treat specially. */
const names = fc.oneof(
  fc.constantFrom('a', 'b', '1', '10', '2', '__proto__', 'constructor', 'toString', ''),
  fc.string(),
);
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, 1, -1, '', '1', 'null', '\ud800'),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: anyCharacter }),
    fc.array(tie('json'), { maxLength: 3 }),
    fc
      .array(fc.tuple(names, tie('json')), { maxLength: 4 })
      .map((members) => Object.fromEntries(members)),
  ),
}));

/** JSON as a client may send it: names in any order, any spaces. */
function shuffled(value: unknown, random: () => number): string {
  const space = random() < 0.5 ? ' \n' : '';
  if (typeof value !== 'object' || value === null) return space + JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((item) => shuffled(item, random)).join(',')}${space}]`;
  const members = Object.entries(value).map(
    ([name, item]) => `${space}${JSON.stringify(name)}:${shuffled(item, random)}`,
  );
  return `{${members.toSorted(() => random() - 0.5).join(`${space},`)}}`;
}

test('names are sorted at every depth, and arrays keep their order', () => {
  assert.equal(
    canonicalJson(JSON.parse('{"b": [{"d": 1, "c": 2}, 3], "a": "x"}')),
    '{"a":"x","b":[{"c":2,"d":1},3]}',
  );
});

test('a member named __proto__ is kept', () => {
  assert.notEqual(canonicalJson(JSON.parse('{"__proto__": {"a": 1}}')), canonicalJson({}));
});

test('numbers too large for a double differ from null and from each other by sign', () => {
  assert.equal(canonicalJson(JSON.parse('[1e999, -1e999, null]')), '[1e999,-1e999,null]');
});

test('equal JSON has equal canonical text, which parses to the same value', () => {
  fc.assert(
    fc.property(
      json,
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (value, numbers) => {
        const random = () => numbers.next().value as number;
        const plain: unknown = JSON.parse(JSON.stringify(value));
        const again: unknown = JSON.parse(shuffled(value, random));
        assert.equal(canonicalJson(again), canonicalJson(plain));
        assert.ok(isDeepStrictEqual(JSON.parse(canonicalJson(plain)), plain));
      },
    ),
  );
});

test('different JSON has different canonical text', () => {
  fc.assert(
    fc.property(json, json, (one, other) => {
      const [left, right] = [one, other].map(
        (value) => JSON.parse(JSON.stringify(value)) as unknown,
      );
      assert.equal(canonicalJson(left) === canonicalJson(right), isDeepStrictEqual(left, right));
    }),
  );
});

test('arguments of calls that differ in a digit differ', () => {
  const text = (id: string) => canonicalJson(parseWithArguments(`{"input":{"id":${id}}}`));
  assert.equal(text('1234567890123456789'), '{"input":{"id":1234567890123456789}}');
  assert.notEqual(text('1234567890123456789'), text('1234567890123456780'));
});
