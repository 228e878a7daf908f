import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { scrub, toApiError, withoutProvider } from './failure-message.ts';

const failure = (
  status: number | null,
  message = 'x',
  kind: UpstreamFailure['kind'] = 'status',
): UpstreamFailure => ({ kind, status, message, retryAfterSeconds: null });

const statuses: [upstream: number, status: number, code: string][] = [
  [400, 400, 'invalid_request'],
  [404, 400, 'invalid_request'],
  [410, 400, 'invalid_request'],
  [413, 400, 'invalid_request'],
  [422, 400, 'invalid_request'],
  [401, 502, 'upstream_error'],
  [402, 502, 'upstream_error'],
  [403, 502, 'upstream_error'],
  [408, 504, 'upstream_timeout'],
  [409, 502, 'upstream_error'],
  [418, 502, 'upstream_error'],
  [429, 503, 'upstream_unavailable'],
  [500, 502, 'upstream_error'],
  [502, 502, 'upstream_error'],
  [503, 503, 'upstream_unavailable'],
  [504, 504, 'upstream_timeout'],
  [529, 503, 'upstream_unavailable'],
];

for (const [upstream, status, code] of statuses) {
  test(`an upstream's ${upstream} becomes ${status} ${code}`, () => {
    const error = toApiError(failure(upstream));
    assert.deepEqual([error.status, error.code], [status, code]);
    if (status === 503) assert.equal(error.retryAfterSeconds, 5);
  });
}

test('only errors that the caller can act on keep the provider’s words', () => {
  assert.equal(
    toApiError(failure(400, 'messages.0: roles must alternate')).message,
    'messages.0: roles must alternate',
  );
  for (const status of [401, 403, 429, 500, 503])
    assert.doesNotMatch(toApiError(failure(status, 'secret words')).message, /secret/);
  for (const kind of ['connection', 'timeout', 'broken-stream', 'unreadable'] as const) {
    assert.doesNotMatch(toApiError(failure(null, 'secret words', kind)).message, /secret/);
  }
});

test('a prompt that is too long has its own code and keeps the words clients look for', () => {
  const error = toApiError(failure(400, 'prompt is too long: 210000 tokens > 200000 maximum'));
  assert.equal(error.code, 'context_length_exceeded');
  assert.match(error.message, /prompt is too long/);
});

/** Sentences of providers; those of Alibaba, Perplexity and Anthropic were recorded or reported. */
const tooLong: Readonly<Record<string, string>> = {
  OpenAI: "This model's maximum context length is 128000 tokens.",
  Google: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  'Anthropic, with the output':
    'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000',
  xAI: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  Groq: 'Please reduce the length of the messages or completion.',
  Moonshot: 'Invalid request: Your request exceeded model token limit: 262144',
  'Z.ai': 'Prompt exceeds max length',
  Alibaba: '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]',
  MiniMax: 'invalid params, context window exceeds limit (2013)',
  'llama.cpp': 'the request exceeds the available context size, try increasing it',
  'Bedrock, Converse':
    'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
  DeepSeek: "This model's maximum context length is 131072 tokens. However, you requested 140000.",
  'Ollama, in the cloud': 'prompt too long; exceeded max context length by 1119046 tokens',
  Cohere: 'too many tokens: size limit exceeded by 25836 tokens. Try using shorter inputs.',
  Together: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32769.',
  SGLang: "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
  'LM Studio':
    'Trying to keep the first 9 tokens when context the overflows. However, the model is loaded with context length of only 8',
  Perplexity: 'The total length of all messages is too long.',
  Bedrock: 'Input Tokens Exceeded: Number of input tokens exceeds maximum length',
  'Claude on Bedrock':
    'The model returned the following errors: Input is too long for requested model.',
};

for (const [provider, message] of Object.entries(tooLong)) {
  test(`a prompt that is too long for ${provider} has its own code`, () => {
    const vendor = { code: 'invalid_parameter_error', param: 'input' };
    const error = toApiError({ ...failure(400, message), vendor });
    assert.equal(error.code, 'context_length_exceeded');
    assert.deepEqual(error.vendor, { param: 'input' }, 'the host’s own code would hide it');
  });
}

test('keys, addresses and ids of the operator are taken out, and the message is bounded', () => {
  const message =
    'Incorrect API key provided: sk-proj-abcdef1234567890. See https://platform.example.com/keys?x=1 or mail ops@example.com; ' +
    'organisation org-Ab12Cd34Ef56, project proj_9f8e7d6c5b4a, Bearer abc.def-ghi and AIzaSyA1234567890.';
  const clean = scrub(message);
  for (const secret of 'abcdef1234567890 example.com Ab12Cd34 9f8e7d6c abc.def SyA123'.split(' ')) {
    assert.ok(!clean.includes(secret), `${secret} in: ${clean}`);
  }
  assert.equal(scrub('x'.repeat(2_000)).length, 500);
  const plain =
    "'max_tokens' must be at most 4096; user-defined tools need input_schema (request_id missing) in messages.0.content.1";
  assert.equal(scrub(plain), plain);
});

test('ids of the operator without a digit, and UUIDs of its account, are taken out', () => {
  const uuid = '550e8400-e29b-41d4-a716-446655440000';
  const cases = [
    ['no access for org-AbCdEfGhIjKlMnOpQrStUvWx today', 'no access for [id removed] today'],
    ['project proj_AbCdEfGhIjKlMnOpQrStUvWx', 'project [id removed]'],
    [`Organization ${uuid} has no credit`, 'Organization [id removed] has no credit'],
    [`organization_id: "${uuid}"`, 'organization_id: "[id removed]"'],
    [`(org '${uuid}', workspace ${uuid})`, "(org '[id removed]', workspace [id removed])"],
    [`Team: ${uuid}, API key ID: ${uuid}`, 'Team: [id removed], API key ID: [id removed]'],
  ] as const;
  for (const [message, clean] of cases) assert.equal(scrub(message), clean);
  const plain = `tool call ${uuid} in messages.3: org-specific fields and project_settings are unknown`;
  assert.equal(scrub(plain), plain);
});

test('a message of megabytes is cut before it is scrubbed, and never within a key', () => {
  for (const part of ['a', 'a.', 'a-', 'org-a', 'a+']) {
    const message = part.repeat(1_000_000);
    assert.ok(cpuMsOf(() => assert.ok(scrub(message).length <= 500)) < 1_000);
  }
  const address = `https://example.com/${'x'.repeat(900)}`;
  assert.doesNotMatch(
    scrub(`${address} ${'y '.repeat(33)}sk-proj-abcdefghijklmnopqrstuvwxyz`),
    /sk-/,
  );
});

test('a provider’s own key and address are taken out, whatever they look like', () => {
  const message = 'key hunter2-hunter2 is refused by 10.0.0.5:8000: hunter2-hunter2';
  const clean = withoutProvider(message, {
    apiKey: 'hunter2-hunter2',
    baseUrl: 'http://10.0.0.5:8000/v1',
  });
  assert.equal(clean, 'key [key removed] is refused by [address removed]: [key removed]');
  for (const apiKey of ['e', 'none', 'changeme'])
    assert.equal(
      withoutProvider(`none of the tests: ${apiKey}`, { apiKey, baseUrl: 'http://model/v1' }),
      `none of the tests: ${apiKey}`,
    );
  assert.equal(
    withoutProvider('no hunter2-9', { apiKey: 'hunter2-9', baseUrl: 'http://model/v1' }),
    'no [key removed]',
  );
  assert.equal(
    withoutProvider('the model is busy', { apiKey: null, baseUrl: 'http://model/v1' }),
    'the model is busy',
  );
});
