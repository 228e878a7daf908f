import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  ApiError,
  documentationUrl,
  errorKinds,
  invalidRequest,
  quoted,
  withoutWords,
} from './errors.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'errors.md'), 'utf8');

test('docs/errors.md says what the registry says, row by row', () => {
  const rows = Object.entries(errorKinds).map(
    ([code, kind]) =>
      `| ${kind.status} | \`${code}\` | ${kind.retry ? 'yes' : 'no'} | ${kind.meaning} | ${kind.remedy} |`,
  );
  const written = page.split('\n').filter((line) => /^\| \d{3} \|/.test(line));
  assert.deepEqual(written, rows);
});

test('an error takes its status from the registry', () => {
  assert.equal(new ApiError('insufficient_balance', 'x').status, 402);
  assert.equal(
    new ApiError('rate_limit_exceeded', 'x', { retryAfterSeconds: 3 }).retryAfterSeconds,
    3,
  );
});

test('an error has its page below the public address, or a path without one', () => {
  const at = (publicUrl: string | null) =>
    documentationUrl('not_found', { requestId: 'req_1', publicUrl });
  assert.equal(at('https://x.example/llm'), 'https://x.example/llm/docs/errors#not_found');
  assert.equal(at(null), '/docs/errors#not_found');
});

test('what a message or a path quotes of the request is cut', () => {
  const error = invalidRequest(
    `metadata.${'x'.repeat(5_000)}`,
    `metadata.${'x'.repeat(5_000)} must be a string; got ${'y'.repeat(5_000)}`,
  );
  assert.equal(error.message.length, 1_000);
  assert.equal(error.param?.length, 200);
  assert.match(error.message, /^metadata\.x{190}… must be a string; got y+…$/);
  assert.deepEqual([invalidRequest('a', 'b').param, invalidRequest('a', 'b').message], ['a', 'b']);
});

test('an error without the client’s words keeps the field and the kind of value', () => {
  const kept = (param: string | null, message: string) => {
    const { message: text, param: field } = withoutWords(invalidRequest(param, message));
    return [field, text];
  };
  const words = `a "b' \`c\\`;
  assert.deepEqual(kept('n', `n must be a string; got ${quoted(words)}`), [
    'n',
    'n must be a string; got "…"',
  ]);
  assert.deepEqual(kept('a.b c', 'a.b c is an unknown field'), [
    'a.b…',
    'a.b… is an unknown field',
  ]);
  assert.deepEqual(kept('a["b c"]', 'a["b c"] is not known'), ['a[…', 'a[… is not known']);
  assert.deepEqual(kept('n', 'n must be from 1 to 4; got 4111111111111111'), [
    'n',
    'n must be from 1 to 4; got a number',
  ]);
  assert.deepEqual(kept('n', 'n must be from 1 to 4; got 5'), [
    'n',
    'n must be from 1 to 4; got 5',
  ]);
  const long = 'x'.repeat(60);
  assert.deepEqual(kept(`a.${long}`, `a.${long} is not known`), [
    `a.${'x'.repeat(40)}…`,
    `a.${'x'.repeat(40)}… is not known`,
  ]);
  assert.deepEqual(kept(null, `the text ${quoted('y'.repeat(5_000))}`), [null, 'the text "…"']);
  assert.deepEqual(
    kept(null, `${'z'.repeat(900)}"${'y'.repeat(5_000)}"`)[1],
    `${'z'.repeat(900)}"…"`,
  );
});
