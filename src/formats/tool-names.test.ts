import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { fitToolNames, type ToolNameRule } from './tool-names.ts';

const rules: readonly ToolNameRule[] = [
  { charactersMax: 64 },
  { charactersMax: 128 },
  { charactersMax: 64, startsWithLetter: true },
];
const anyName = fc.oneof(
  fc.string({ minLength: 1, maxLength: 200, unit: 'binary' }),
  fc.string({ minLength: 1, maxLength: 200, unit: fc.constantFrom('a', 'B', '0', '_', '-', '.') }),
  fc
    .integer({ min: 0, max: 3 })
    .map((index) => `mcp__plugin_of_a_long_name__${'x'.repeat(120)}${index}`),
);

test('each fitted name fits, is unique, and is restored', () => {
  for (const rule of rules) {
    fc.assert(
      fc.property(fc.uniqueArray(anyName, { maxLength: 20 }), (names) => {
        const fitted = fitToolNames(names, rule);
        const sent = names.map((name) => fitted?.toSent(name) ?? name);
        for (const name of sent) {
          assert.match(
            name,
            rule.startsWithLetter ? /^[a-zA-Z_][a-zA-Z0-9_-]*$/ : /^[a-zA-Z0-9_-]+$/,
          );
          assert.ok(name.length <= rule.charactersMax);
        }
        assert.equal(new Set(sent).size, names.length);
        assert.deepEqual(
          sent.map((name) => fitted?.toClient(name) ?? name),
          names,
        );
        // The same names again, whatever else the request adds later.
        const more = fitToolNames([...names, 'y'.repeat(200), 'z'], rule);
        assert.deepEqual(
          names.map((name) => more?.toSent(name)),
          sent,
        );
      }),
    );
  }
});

test('names that fit stay unchanged', () => {
  const names = ['get_weather', 'x'.repeat(64), '0-a'];
  assert.equal(fitToolNames(names, rules[0]!), null);
  const beside = fitToolNames([...names, 'a.b'], rules[0]!)!;
  assert.deepEqual(names.map(beside.toSent), names);
});

test('a tool keeps its name when another tool’s fitted name equals it, and the other gets a different one', () => {
  const long = 'x'.repeat(65);
  const first = fitToolNames([long], rules[0]!)!.toSent(long);
  const second = fitToolNames([first, long], rules[0]!)!;
  assert.equal(second.toSent(first), first);
  assert.notEqual(second.toSent(long), first);
  assert.deepEqual([second.toClient(first), second.toClient(second.toSent(long))], [first, long]);
});

test('long names keep their end, by which a model distinguishes them', () => {
  const name = 'mcp__plugin_everything-claude-code_github__create_pull_request_review';
  assert.match(
    fitToolNames([name], rules[0]!)!.toSent(name),
    /github__create_pull_request_review_[0-9a-f]{12}$/,
  );
});
