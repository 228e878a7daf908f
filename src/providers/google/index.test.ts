import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { knownProviders } from '../../config/known-providers.ts';
import { readFailure } from './failure.ts';
import { google } from './index.ts';

const place = { region: null, project: null, apiVersion: null };
const target = {
  model: 'gemini-3.8-flash',
  stream: false,
  maxOutputTokens: 1,
  thinking: false,
  isOpenAi: false,
} as const;
const status = (code: number): UpstreamFailure => ({
  kind: 'status',
  status: code,
  message: 'm',
  retryAfterSeconds: null,
});

test('the path names the model and whether to stream, and the key has its own header', () => {
  const models = 'https://generativelanguage.googleapis.com/v1beta/models';
  const path = (fields: object) =>
    `${knownProviders.google!.baseUrl as string}${google.path('gemini', { ...target, ...fields }, place)}`;
  assert.equal(path({}), `${models}/gemini-3.8-flash:generateContent`);
  assert.equal(path({ stream: true }), `${models}/gemini-3.8-flash:streamGenerateContent?alt=sse`);
  assert.equal(path({ model: 'a/../b?c' }), `${models}/a%2F..%2Fb%3Fc:generateContent`);
  assert.deepEqual(google.headers('secret', { 'anthropic-beta': 'x' }), {
    'x-goog-api-key': 'secret',
  });
  assert.deepEqual(google.headers(null, {}), {});
});

const wrongKey = {
  error: {
    code: 400,
    message: 'API key not valid. Please pass a valid API key.',
    status: 'INVALID_ARGUMENT',
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
  },
};

const cases: Record<string, [code: number, body: unknown, expected: number]> = {
  'a wrong key becomes a 401': [400, wrongKey, 401],
  'a wrong key in a list, as streams send it, becomes a 401': [400, [wrongKey], 401],
  'a wrong key is recognised by its message alone': [
    400,
    { error: { message: 'API key expired. Please renew the API key.' } },
    401,
  ],
  'an account that may not call becomes a 403': [
    400,
    { error: { status: 'FAILED_PRECONDITION', message: 'Enable billing.' } },
    403,
  ],
  "the client's mistake stays a 400": [
    400,
    { error: { status: 'INVALID_ARGUMENT', message: 'Invalid role.' } },
    400,
  ],
  "a refusal that quotes the client's words stays a 400": [
    400,
    {
      error: {
        status: 'INVALID_ARGUMENT',
        message:
          'function_declarations[0].parameters.properties[API key not valid].items: missing.',
      },
    },
    400,
  ],
  'other statuses stay as they are': [404, wrongKey, 404],
  'a body that is not JSON changes nothing': [400, '<html>', 400],
};

for (const [name, [code, body, expected]] of Object.entries(cases)) {
  test(`failures: ${name}`, () => assert.equal(readFailure(status(code), body).status, expected));
}

test('an account without credit becomes a 402, although Google says that it may pass', () => {
  const message = 'Your prepayment credits are depleted. Please go to AI Studio.';
  const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message } };
  assert.equal(readFailure({ ...status(429), message }, body).status, 402);
});

test('the retry delay is read from the body', () => {
  const body = (retryDelay: unknown) => ({ error: { details: [{ reason: 'x' }, { retryDelay }] } });
  assert.equal(readFailure(status(429), body('34.4s')).retryAfterSeconds, 35);
  assert.equal(readFailure(status(429), body('soon')).retryAfterSeconds, null);
  assert.equal(
    readFailure({ ...status(429), retryAfterSeconds: 3 }, body('34.4s')).retryAfterSeconds,
    3,
  );
});
