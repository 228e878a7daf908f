import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readErrorMessage } from './error-message.ts';

const bodies: [body: unknown, message: string | null][] = [
  [{ error: { message: 'a', code: 'x' } }, 'a'],
  [{ type: 'error', error: { type: 'x', message: 'a' } }, 'a'],
  [{ code: 'x', error: 'a' }, 'a'],
  [{ message: 'a' }, 'a'],
  [{ object: 'error', message: 'a' }, 'a'],
  [{ detail: 'a' }, 'a'],
  [{ Message: 'a' }, 'a'],
  [{ detail: [{ loc: ['body'], msg: 'a' }] }, 'a'],
  [[{ error: { code: 400, message: 'a' } }], 'a'],
  [' a\n', 'a'],
  ['<html><body>502</body></html>', null],
  ['', null],
  [{ error: { code: 5 } }, null],
  [{ error: {} }, null],
  [{}, null],
  [[], null],
  [3, null],
  [null, null],
];

for (const [body, message] of bodies) {
  test(`the message of ${JSON.stringify(body)} is ${message}`, () =>
    assert.equal(readErrorMessage(body), message));
}
