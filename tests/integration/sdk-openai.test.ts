// The official `openai` package against the started program: in test mode, and with a live key
// through the local upstream.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai';
import { zeroMicros } from '../../src/lib/money.ts';
import { answerContent } from '../support/answers.ts';
import { startGateway, type KeyOptions } from '../support/gateway.ts';
import { answerStatus } from '../support/upstream.ts';

const gateway = await startGateway();
const sandbox = clientOf(gateway.program.firstTestKey);
const live = await newClient({ mode: 'live', creditUsd: 5 });
after(() => gateway.stop());

const sandboxText = 'You said: Hello!\n\nThis is the sandbox: no model ran.';
const messages = [{ role: 'user' as const, content: 'Hello!' }];

const paris = { text: 'Paris is the capital.', tokens: { input: 9, cacheRead: 3, output: 5 } };
/** The sandbox counts a token per four bytes. */
const ways: Readonly<Record<string, readonly [OpenAI, text: string, counts: readonly number[]]>> = {
  'in test mode': [sandbox, sandboxText, [2, 13, 15]],
  'with a live key': [live, paris.text, [12, 5, 17]],
};

for (const [way, [client, text, counts]] of Object.entries(ways)) {
  test(`chat completions have text, usage and finish reason ${way}, whole and streamed`, async () => {
    gateway.upstream.on('/v1/chat/completions', answerContent('chat', paris));
    const asked = { model: 'gpt-6-luna', messages };
    const completion = await client.chat.completions.create(asked);
    assert.equal(completion.object, 'chat.completion');
    // The catalogue's id, not the provider's dated one.
    assert.equal(completion.model, 'gpt-6-luna');
    assert.equal(completion.choices[0]?.message.content, text);
    assert.equal(completion.choices[0].finish_reason, 'stop');
    assert.deepEqual(countsOf(completion.usage), counts);
    for (const includeUsage of [true, false]) {
      const options = { stream: true, stream_options: { include_usage: includeUsage } } as const;
      const chunks = await Array.fromAsync(
        await client.chat.completions.create({ ...asked, ...options }),
      );
      assert.equal(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''), text);
      assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
      assert.deepEqual(
        chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? []),
        ['stop'],
      );
      const usages = chunks.filter((chunk) => chunk.usage).map((chunk) => countsOf(chunk.usage));
      assert.deepEqual(usages, includeUsage ? [counts] : []);
      if (includeUsage) assert.deepEqual(chunks.at(-1)?.choices, []);
    }
  });

  test(`responses have text, usage and status ${way}, whole and streamed, also with a warning`, async () => {
    gateway.upstream.on('/v1/responses', answerContent('responses', paris));
    for (const fields of [{}, { previous_response_id: 'resp_1' }]) {
      const asked = { model: 'gpt-6-luna', input: 'Hello!', ...fields };
      const stream = client.responses.stream(asked);
      let streamed = '';
      const types: string[] = [];
      for await (const event of stream) {
        types.push(event.type);
        if (event.type === 'response.output_text.delta') streamed += event.delta;
      }
      assert.equal(streamed, text);
      assert.deepEqual([types[0], types.at(-1)], ['response.created', 'response.completed']);
      for (const response of [await client.responses.create(asked), await stream.finalResponse()]) {
        assert.deepEqual([response.output_text, response.status], [text, 'completed']);
        assert.equal(response.model, 'gpt-6-luna');
        const { input_tokens: input, output_tokens: output, total_tokens } = response.usage!;
        assert.deepEqual([input, output, total_tokens], counts);
        const { warnings } = response as { warnings?: readonly { code: string }[] };
        assert.deepEqual(
          warnings?.map(({ code }) => code),
          'previous_response_id' in fields ? ['previous_response_id_ignored'] : undefined,
        );
      }
    }
  });
}

test('models.list and models.retrieve read the catalogue', async () => {
  const models = await Array.fromAsync(sandbox.models.list());
  assert.ok(models.length > 90, `${models.length} models`);
  const listed = models.find(({ id }) => id === 'gpt-6-luna');
  assert.equal(listed?.owned_by, 'openai');
  assert.deepEqual(await sandbox.models.retrieve('gpt-6-luna'), listed);
});

test('each refusal is the typed error of its status, with its code and field', async (t) => {
  const rated = await newClient({ requestsPerMinute: 1 });
  await rated.chat.completions.create({ model: 'gpt-6-luna', messages });
  const capped = await newClient({ dailyCapMicros: zeroMicros });
  const restricted = await newClient({ models: ['gpt-4o'] });
  const poor = await newClient({ mode: 'live' });
  gateway.upstream.on('/v1/chat/completions', answerStatus(500));
  const table: Readonly<Record<string, readonly [OpenAI, ErrorClass, object, object?]>> = {
    'a wrong key': [
      clientOf('tg_live_wrong'),
      AuthenticationError,
      { status: 401, code: 'invalid_api_key' },
    ],
    'an empty balance': [
      poor,
      APIError,
      { status: 402, code: 'insufficient_balance', type: 'insufficient_quota' },
    ],
    'a model that the key does not allow': [
      restricted,
      PermissionDeniedError,
      { status: 403, code: 'model_not_allowed_for_key', param: 'model' },
    ],
    'an unknown model': [
      sandbox,
      NotFoundError,
      { status: 404, code: 'model_not_found' },
      { model: 'no-such-model' },
    ],
    'the rate limit': [rated, RateLimitError, { status: 429, code: 'rate_limit_exceeded' }],
    'a cap': [capped, RateLimitError, { status: 429, code: 'key_daily_limit_reached' }],
    'a bad field': [
      sandbox,
      BadRequestError,
      { status: 400, code: 'invalid_request', param: 'temperature' },
      { temperature: 3 },
    ],
    'a failing provider': [live, InternalServerError, { status: 502, code: 'upstream_error' }],
  };
  for (const [name, [client, kind, expected, fields]] of Object.entries(table)) {
    await t.test(name, async () => {
      const error = await failing(client, kind, fields);
      const { status, code, type, param } = error;
      assert.partialDeepStrictEqual({ status, code, type, param }, expected);
      assert.equal(error.requestID, error.headers?.get('x-request-id'));
      if (name === 'the rate limit') assert.ok(Number(error.headers?.get('retry-after')) >= 1);
    });
  }
});

test('a cap is not retried by the SDK on its own', async () => {
  let requests = 0;
  const counting: typeof fetch = (...request) => {
    requests += 1;
    return fetch(...request);
  };
  const capped = (await newClient({ dailyCapMicros: zeroMicros })).withOptions({
    maxRetries: 2,
    fetch: counting,
  });
  await failing(capped, RateLimitError);
  assert.equal(requests, 1);
});

test('a stream that breaks off throws, in chat and in responses', async () => {
  const content = 'sandbox: cut_after=3';
  const asked = { model: 'gpt-6-luna', stream: true } as const;
  for (const stream of [
    await sandbox.chat.completions.create({ ...asked, messages: [{ role: 'user', content }] }),
    await sandbox.responses.create({ ...asked, input: content }),
  ]) {
    const error: unknown = await Array.fromAsync<unknown>(stream).catch(
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof APIError);
    assert.equal(pageOf(error), '/docs/errors#upstream_error');
  }
});

type ErrorClass = new (...args: never[]) => APIError;

/** The page of the documentation that an error names. */
function pageOf({ error }: APIError): unknown {
  return (error as Readonly<Record<string, unknown>>)['documentation_url'];
}

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
}

async function newClient(options: KeyOptions): Promise<OpenAI> {
  return clientOf((await gateway.makeKey(options)).key);
}

/** The error of a small chat request; must have the expected class. */
async function failing(client: OpenAI, expected: ErrorClass, fields: object = {}) {
  const asked = client.chat.completions.create({ model: 'gpt-6-luna', messages, ...fields });
  const error: unknown = await asked.then(
    () => assert.fail('the request succeeded'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof expected, String(error));
  assert.equal(pageOf(error), `/docs/errors#${error.code}`);
  return error;
}

function countsOf(usage: OpenAI.CompletionUsage | null | undefined) {
  assert.ok(usage);
  return [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens];
}
