import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolsWith } from '../../tests/support/credential-tools.ts';
import { CredentialError, keptToken, readToken, type Lasting } from './credential.ts';

const minuteMs = 60_000;

/** A source whose tokens are numbered, and last an hour. */
function source() {
  let nowMs = 1_000_000;
  let fetches = 0;
  let failure: Error | null = null;
  const fetchToken = async (): Promise<Lasting<number>> => {
    fetches += 1;
    const number = fetches;
    await Promise.resolve();
    if (failure) throw failure;
    return { token: number, endsAtMs: nowMs + 60 * minuteMs };
  };
  return {
    token: keptToken(fetchToken, { nowMs: () => nowMs }),
    fetches: () => fetches,
    pass: (ms: number) => (nowMs += ms),
    fail: (error: Error | null) => (failure = error),
  };
}

test('a hundred calls at once fetch a token once', async () => {
  const { token, fetches } = source();
  const tokens = await Promise.all(Array.from({ length: 100 }, token));
  assert.deepEqual(new Set(tokens), new Set([1]));
  assert.equal(fetches(), 1);
});

test('a token is replaced five minutes ahead, while calls still use it', async () => {
  const { token, fetches, pass } = source();
  await token();
  pass(54 * minuteMs);
  assert.equal(await token(), 1);
  assert.equal(fetches(), 1);
  pass(2 * minuteMs);
  assert.equal(await token(), 1);
  await Promise.resolve();
  assert.equal(fetches(), 2);
  await new Promise(setImmediate);
  assert.equal(await token(), 2);
});

test('a failed replacement leaves the token in use until its end, and then fails the call', async () => {
  const { token, pass, fail } = source();
  await token();
  fail(new CredentialError('the service is away', { isRefused: false }));
  pass(57 * minuteMs);
  assert.equal(await token(), 1);
  await new Promise(setImmediate);
  pass(3 * minuteMs);
  await assert.rejects(token(), /the service is away/);
  fail(null);
  assert.ok((await token()) > 1);
});

test('a failure is not kept', async () => {
  const { token, fail, fetches } = source();
  fail(new Error('away'));
  await assert.rejects(Promise.all([token(), token()]));
  assert.equal(fetches(), 1);
  fail(null);
  assert.equal(await token(), 2);
});

test('the end of a token is seconds from now or a Unix second, as numbers or texts', () => {
  const clock = { nowMs: () => 5_000 };
  const read = (fields: object) =>
    readToken({ status: 200, body: { access_token: 't', ...fields } }, 'X', { clock }).endsAtMs;
  assert.equal(read({ expires_in: 10 }), 15_000);
  assert.equal(read({ expires_in: '10' }), 15_000);
  assert.equal(read({ expires_on: '1700000000' }), 1_700_000_000_000);
  assert.equal(read({}), 0);
});

test('a service that gives no token is quoted in its first line, and may be tried again unless it refuses', () => {
  const { tools } = toolsWith({});
  const errorOf = (status: number, body: unknown) => {
    try {
      readToken({ status, body }, 'X', tools);
    } catch (error) {
      const { message, isRefused } = error as CredentialError;
      return [message, isRefused];
    }
    return null;
  };
  const oauth = { error: 'invalid_client', error_description: 'AADSTS1: wrong.\r\nTrace ID: 1' };
  assert.deepEqual(errorOf(401, oauth), ['X gives no token: AADSTS1: wrong.', true]);
  const google = { error: { code: 403, message: 'IAM API is off' } };
  assert.deepEqual(errorOf(403, google), ['X gives no token: IAM API is off', true]);
  assert.deepEqual(errorOf(503, '<html>'), ['X gives no token: HTTP 503', false]);
  assert.deepEqual(errorOf(429, {}), ['X gives no token: HTTP 429', false]);
  for (const token of ['', 'a\nb', 'é'])
    assert.deepEqual(errorOf(200, { access_token: token, expires_in: 3_600 }), [
      'X gives no token: HTTP 200',
      false,
    ]);
  assert.deepEqual(errorOf(200, { token: 't' }), ['X gives no token: HTTP 200', false]);
});
