import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { parsedOr, parseJson, writeJson } from './json.ts';
import { parseWithArguments } from './exact-json.ts';

test('parses everything that JSON.parse does, up to 64 levels of nesting', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      assert.deepEqual(parseJson(Buffer.from(text)), { ok: true, value: JSON.parse(text) });
    }),
  );
});

test('64 levels of nesting pass and 65 do not; brackets in strings do not count', () => {
  const nested = (depth: number) =>
    Buffer.from(
      `${'[{"a":'.repeat(depth / 2)}${JSON.stringify('[{\\"[['.repeat(50))}${'}]'.repeat(depth / 2)}`,
    );
  assert.equal(parseJson(nested(64)).ok, true);
  const result = parseJson(nested(66));
  assert.deepEqual(result, {
    ok: false,
    message: 'the body is nested deeper than 64 levels',
    isTooDeep: true,
  });
});

test('a body has a bounded number of values; commas in strings do not count', () => {
  const list = (length: number) => Buffer.from(JSON.stringify(Array(length).fill('a,b[{')));
  const bounds = { valuesMax: 100 };
  assert.equal(parseJson(list(100), bounds).ok, true);
  assert.deepEqual(parseJson(list(101), bounds), {
    ok: false,
    message: 'the body has more than 100 values; send shorter lists and objects',
  });
  assert.equal(parseJson(Buffer.from(`[${'[],'.repeat(50)}[]]`), bounds).ok, false);
  assert.equal(parseJson(list(101)).ok, true);
});

test('values are counted exactly behind texts of quotes, backslashes, commas and brackets', () => {
  const texts = fc.array(
    fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', 'a'), maxLength: 200 }),
    { minLength: 1 },
  );
  fc.assert(
    fc.property(texts, (list) => {
      const bytes = Buffer.from(JSON.stringify(list));
      assert.equal(parseJson(bytes, { valuesMax: list.length }).ok, true);
      assert.equal(parseJson(bytes, { valuesMax: list.length - 1 }).ok, false);
    }),
  );
});

test('ten million brackets are refused at once', () => {
  assert.equal(parseJson(Buffer.alloc(10_000_000, '[')).ok, false);
});

test('what is not JSON is read as something else', () => {
  assert.deepEqual(parsedOr('{"a":[1]}', null), { a: [1] });
  assert.equal(parsedOr('null', 'no JSON'), null);
  assert.equal(parsedOr('{"a":', 'no JSON'), 'no JSON');
});

test('reports the position of a syntax error without quoting the body', () => {
  assert.deepEqual(parseJson(Buffer.from('{"secret": nope}')), {
    ok: false,
    message: 'the body is not valid JSON',
  });
  assert.deepEqual(parseJson(Buffer.from('{"secret":"a"')), {
    ok: false,
    message: 'the body is not valid JSON (at character 13)',
  });
  assert.deepEqual(parseJson(Buffer.alloc(0)), {
    ok: false,
    message: 'the body is empty; send a JSON object',
  });
  assert.deepEqual(parseJson(Buffer.from('{"a":')), {
    ok: false,
    message: 'the body is not valid JSON (it ends too early)',
  });
});

test('numbers of a body are read as exactly as parseWithArguments reads them', () => {
  const digits = fc.oneof(
    fc.stringMatching(/^-?9[0-9]{14,16}$/),
    fc.stringMatching(/^-?[1-9][0-9]{0,24}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/),
  );
  const place = fc.constantFrom('{"input":{"id":#},"n":#}', '[#,{"args":[ #]}]', '#');
  fc.assert(
    fc.property(digits, place, (number, shape) => {
      const text = shape.replaceAll('#', number);
      const parsed = parseJson(Buffer.from(text));
      assert.ok(parsed.ok);
      assert.equal(JSON.stringify(parsed.value), JSON.stringify(parseWithArguments(text)));
    }),
  );
});

test('half of a character is written as U+FFFD, and every other text as it is', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\\ud83d', '\\', '😀'));
  fc.assert(
    fc.property(fc.array(anyText), (texts) => {
      const torn = texts.flatMap((text) => [text, `${text}\ud83d`, `\ude00${text}`]);
      assert.deepEqual(
        JSON.parse(writeJson(torn)),
        torn.map((text) => text.toWellFormed()),
      );
    }),
  );
  assert.equal(writeJson('\ud83d'), '"\ufffd"');
});
