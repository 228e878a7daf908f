import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { parseArguments, parseWithArguments } from './exact-json.ts';

const written = (value: unknown) => JSON.stringify(value);

test('numbers in the arguments of calls are written as they were read', () => {
  const ids = '{"id":1234567890123456789,"deep":[{"n":-9007199254740993}],"big":1e400}';
  assert.equal(written(parseArguments(ids)), ids);
  const message = `{"content":[{"type":"tool_use","input":${ids}},{"functionCall":{"args":${ids}}}]}`;
  assert.equal(written(parseWithArguments(message)), message);
  const list = `{"input":[{"type":"tool_use","input":${ids}}]}`;
  assert.equal(written(parseWithArguments(list)), list);
});

test('other numbers stay numbers, also beside such arguments', () => {
  const body = parseWithArguments(
    '{"seed":9007199254740993,"list":[12345678901234567890],"__proto__":{"n":9007199254740993},"input":{"id":12345678901234567890,"n":1.50}}',
  ) as Record<string, unknown>;
  assert.equal(body['seed'], 9_007_199_254_740_992);
  assert.deepEqual(body['list'], [12_345_678_901_234_567_000]);
  assert.equal(Object.getPrototypeOf(body), Object.prototype);
  assert.equal((body['input'] as { n: unknown }).n, 1.5);
  assert.equal(parseWithArguments('12345678901234567890'), 12_345_678_901_234_567_000);
  assert.deepEqual(parseWithArguments('{"input":12345678901234567890}'), {
    input: 12_345_678_901_234_567_000,
  });
});

test('whatever the value, arguments come back as JSON.stringify would write them', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.bigInt(), (value, id) => {
      const text = `{"value":${written(value)},"id":${id}}`;
      assert.equal(written(parseArguments(text)), text);
      const message = `{"seed":1,"input":${text}}`;
      assert.equal(written(parseWithArguments(message)), message);
    }),
  );
});
