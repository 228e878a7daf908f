// The official `openai` package against the started program: in test mode, and with a live key
// through the local upstream.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI, {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai';
import { zeroMicros } from '../../src/lib/money.ts';
import { answerContent } from '../support/answers.ts';
import { startGateway, type KeyOptions, type TestGateway } from '../support/gateway.ts';
import { readOwnAnswer } from '../support/recordings.ts';
import { answerStatus, answerBytes, answerJson } from '../support/upstream.ts';

let gateway: TestGateway;
let sandbox: OpenAI;
let live: OpenAI;

before(async () => {
  gateway = await startGateway();
  sandbox = clientOf(gateway.program.firstTestKey);
  live = await newClient({ mode: 'live', creditUsd: 5 });
});
after(() => gateway.stop());

const sandboxText = 'You said: Hello!\n\nThis is the sandbox: no model ran.';
const messages = [{ role: 'user' as const, content: 'Hello!' }];
const weather = { city: { type: 'string' as const } };
const weatherTool = {
  name: 'get_weather',
  parameters: { type: 'object', properties: weather, required: ['city'] },
};
const directive = 'Weather?\nsandbox: tool=get_weather {"city":"Paris"}';

test('chat.completions.create returns text, usage and finish reason', async () => {
  const completion = await sandbox.chat.completions.create({ model: 'gpt-5-mini', messages });
  assert.equal(completion.object, 'chat.completion');
  assert.equal(completion.model, 'gpt-5-mini');
  assert.equal(completion.choices[0]?.message.content, sandboxText);
  assert.equal(completion.choices[0].finish_reason, 'stop');
  // The sandbox counts a token per four bytes.
  assert.deepEqual(countsOf(completion.usage), {
    prompt_tokens: 2,
    completion_tokens: 13,
    total_tokens: 15,
  });
});

test('a chat stream has the same text, and usage only on request', async () => {
  for (const includeUsage of [true, false]) {
    const stream = await sandbox.chat.completions.create({
      model: 'gpt-5-mini',
      messages,
      stream: true,
      stream_options: { include_usage: includeUsage },
    });
    const chunks = await Array.fromAsync(stream);
    assert.equal(
      chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join(''),
      sandboxText,
    );
    assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
    assert.deepEqual(
      chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? []),
      ['stop'],
    );
    const usages = chunks.filter((chunk) => chunk.usage).map((chunk) => countsOf(chunk.usage));
    assert.deepEqual(
      usages,
      includeUsage ? [{ prompt_tokens: 2, completion_tokens: 13, total_tokens: 15 }] : [],
    );
    if (includeUsage) assert.deepEqual(chunks.at(-1)?.choices, []);
  }
});

test('the chat stream helper builds the final completion', async () => {
  const completion = await sandbox.chat.completions
    .stream({ model: 'gpt-5-mini', messages, stream_options: { include_usage: true } })
    .finalChatCompletion();
  assert.equal(completion.choices[0]?.message.content, sandboxText);
  assert.equal(completion.usage?.total_tokens, 15);
});

test('chat runs a tool loop: parallel calls, their results, the answer', async () => {
  const content = `${directive}\nsandbox: tool=get_weather {"city":"Rome"}`;
  const tools = [{ type: 'function' as const, function: weatherTool }];
  const question = { role: 'user' as const, content };
  const first = await sandbox.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [question],
    tools,
  });
  const [choice] = first.choices;
  assert.equal(choice?.finish_reason, 'tool_calls');
  const calls = choice.message.tool_calls ?? [];
  assert.deepEqual(
    calls.map(
      (call) =>
        call.type === 'function' && [call.function.name, JSON.parse(call.function.arguments)],
    ),
    [
      ['get_weather', { city: 'Paris' }],
      ['get_weather', { city: 'Rome' }],
    ],
  );
  const results = calls.map((call) => ({
    role: 'tool' as const,
    tool_call_id: call.id,
    content: 'sunny',
  }));
  const second = await sandbox.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [question, choice.message, ...results],
    tools,
  });
  assert.match(second.choices[0]?.message.content ?? '', /get_weather returned: sunny/);
  assert.equal(second.choices[0]?.finish_reason, 'stop');
});

test('a streamed chat tool call comes whole', async () => {
  const completion = await sandbox.chat.completions
    .stream({
      model: 'gpt-5-mini',
      messages: [{ role: 'user', content: directive }],
      tools: [{ type: 'function', function: weatherTool }],
    })
    .finalChatCompletion();
  const [call] = completion.choices[0]?.message.tool_calls ?? [];
  assert.ok(call?.type === 'function');
  assert.deepEqual(
    [call.function.name, JSON.parse(call.function.arguments)],
    ['get_weather', { city: 'Paris' }],
  );
  assert.equal(completion.choices[0]?.finish_reason, 'tool_calls');
});

test('responses.create returns text, usage and status', async () => {
  const response = await sandbox.responses.create({ model: 'gpt-5-mini', input: 'Hello!' });
  assert.equal(response.output_text, sandboxText);
  assert.equal(response.status, 'completed');
  assert.equal(response.model, 'gpt-5-mini');
  assert.deepEqual(
    [response.usage?.input_tokens, response.usage?.output_tokens, response.usage?.total_tokens],
    [2, 13, 15],
  );
});

test('responses.stream() emits events that agree with its final response', async () => {
  const stream = sandbox.responses.stream({ model: 'gpt-5-mini', input: 'Hello!' });
  let text = '';
  const types: string[] = [];
  for await (const event of stream) {
    types.push(event.type);
    if (event.type === 'response.output_text.delta') text += event.delta;
  }
  const final = await stream.finalResponse();
  assert.equal(text, sandboxText);
  assert.equal(final.output_text, sandboxText);
  assert.equal(final.status, 'completed');
  assert.equal(final.usage?.total_tokens, 15);
  assert.equal(types[0], 'response.created');
  assert.equal(types.at(-1), 'response.completed');
});

test('responses runs a tool loop by sending the output back as input', async () => {
  const tools = [{ type: 'function' as const, ...weatherTool, strict: null }];
  const first = await sandbox.responses
    .stream({ model: 'gpt-5-mini', input: directive, tools })
    .finalResponse();
  const [call] = first.output;
  assert.ok(call?.type === 'function_call');
  assert.equal(call.id, call.call_id);
  assert.deepEqual([call.name, JSON.parse(call.arguments)], ['get_weather', { city: 'Paris' }]);
  const second = await sandbox.responses.create({
    model: 'gpt-5-mini',
    tools,
    input: [
      { role: 'user', content: directive },
      // The package's types do not accept its own output as input; its documentation does.
      ...(first.output as OpenAI.Responses.ResponseInput),
      { type: 'function_call_output', call_id: call.call_id, output: 'sunny' },
    ],
  });
  assert.match(second.output_text, /get_weather returned: sunny/);
});

test('models.list and models.retrieve read the catalogue', async () => {
  const models = await Array.fromAsync(sandbox.models.list());
  assert.ok(models.length > 90, `${models.length} models`);
  const listed = models.find(({ id }) => id === 'gpt-5-mini');
  assert.equal(listed?.owned_by, 'openai');
  assert.deepEqual(await sandbox.models.retrieve('gpt-5-mini'), listed);
});

test('a live chat request reaches the provider with its own credential and comes back with text and usage', async () => {
  const content = { text: 'Paris is the capital.', tokens: { input: 9, cacheRead: 3, output: 5 } };
  gateway.upstream.on('/v1/chat/completions', answerContent('chat', content));
  const next = gateway.upstream.requests.length;
  const { data, response } = await live.chat.completions
    .create({ model: 'gpt-5-mini', messages })
    .withResponse();
  assert.equal(data.choices[0]?.message.content, content.text);
  assert.equal(data.model, 'gpt-5-mini', "the catalogue's id, not the provider's dated one");
  assert.deepEqual(countsOf(data.usage), {
    prompt_tokens: 12,
    completion_tokens: 5,
    total_tokens: 17,
  });
  // (9 × $0.25 + 3 × $0.025 + 5 × $2) a million, rounded up.
  assert.equal(response.headers.get('x-service-cost-micros'), '13');
  const sent = await gateway.upstream.request(next);
  assert.match(sent.headers.authorization ?? '', /^Bearer sk-upstream-secret/);
  assert.deepEqual((sent.body as { messages: unknown }).messages, messages);

  const stream = live.chat.completions.stream({
    model: 'gpt-5-mini',
    messages,
    stream_options: { include_usage: true },
  });
  const completion = await stream.finalChatCompletion();
  assert.equal(completion.choices[0]?.message.content, content.text);
  assert.equal(completion.choices[0].finish_reason, 'stop');
  assert.equal(completion.usage?.total_tokens, 17);
});

test('a live responses request is answered whole and streamed', async () => {
  const content = { text: 'Paris is the capital.', tokens: { input: 12, output: 5 } };
  gateway.upstream.on('/v1/responses', answerContent('responses', content));
  const whole = await live.responses.create({ model: 'gpt-5-mini', input: 'Hello!' });
  const streamed = await live.responses
    .stream({ model: 'gpt-5-mini', input: 'Hello!' })
    .finalResponse();
  for (const response of [whole, streamed]) {
    assert.equal(response.output_text, content.text);
    assert.equal(response.status, 'completed');
    assert.equal(response.model, 'gpt-5-mini');
    assert.equal(response.usage?.total_tokens, 17);
  }
});

test('a response with a warning about previous_response_id is read like any other', async () => {
  const content = { text: 'Paris is the capital.', tokens: { input: 12, output: 5 } };
  gateway.upstream.on('/v1/responses', answerContent('responses', content));
  for (const client of [live, sandbox]) {
    const asked = { model: 'gpt-5-mini', input: 'Hello!', previous_response_id: 'resp_1' };
    const whole = await client.responses.create(asked);
    const streamed = await client.responses.stream(asked).finalResponse();
    assert.equal(streamed.output_text, whole.output_text);
    for (const response of [whole, streamed]) {
      assert.equal(response.status, 'completed');
      const { warnings } = response as { warnings?: readonly { code: string }[] };
      assert.deepEqual(
        warnings?.map(({ code }) => code),
        ['previous_response_id_ignored'],
      );
    }
  }
});

test('a chat stream of parallel tool calls is read completely', async () => {
  gateway.upstream.on(
    '/v1/chat/completions',
    answerBytes(readOwnAnswer('openai-chat/interleaved-tools.sse'), { sizes: [7, 100, 1_000] }),
  );
  const stream = live.chat.completions.stream({
    model: 'gpt-4o',
    messages,
    stream_options: { include_usage: true },
    tools: ['get_weather', 'get_time'].map((name) => ({
      type: 'function' as const,
      function: { name },
    })),
  });
  const completion = await stream.finalChatCompletion();
  const calls = completion.choices[0]?.message.tool_calls ?? [];
  assert.deepEqual(
    calls.map(
      (call) => call.type === 'function' && [call.id, call.function.name, call.function.arguments],
    ),
    [
      ['call_a', 'get_weather', '{"city":"Paris"}'],
      ['call_b', 'get_time', '{"city":"Oslo"}'],
    ],
  );
  assert.equal(completion.choices[0]?.finish_reason, 'tool_calls');
  assert.equal(completion.usage?.total_tokens, 70);
});

test('a whole response with the calls of hosted tools is read', async () => {
  gateway.upstream.on(
    '/v1/responses',
    answerJson(readOwnAnswer('openai-responses/hosted-tools.json').toString('utf8')),
  );
  const response = await live.responses.create({ model: 'gpt-5', input: 'Hello!' });
  assert.equal(response.model, 'gpt-5');
  assert.equal(response.output_text, 'Four.');
  assert.deepEqual(
    response.output.map((item) => item.type as string),
    ['code_interpreter_call', 'mcp_call', 'file_search_call', 'new_kind_of_call', 'message'],
  );
  assert.equal(response.usage?.total_tokens, 17);
});

test('401: a wrong key is an AuthenticationError', async () => {
  const error = await failing(clientOf('tg_live_wrong'), AuthenticationError);
  assert.equal(error.status, 401);
  assert.equal(error.code, 'invalid_api_key');
  assert.equal(error.requestID, error.headers.get('x-request-id'));
});

test('402: an empty balance has its code and message', async () => {
  const client = await newClient({ mode: 'live' });
  const error = await failing(client, OpenAI.APIError);
  assert.equal(error.status, 402);
  assert.equal(error.code, 'insufficient_balance');
  assert.equal(error.type, 'insufficient_quota');
});

test('403: a model that the key does not allow is a PermissionDeniedError', async () => {
  const client = await newClient({ models: ['gpt-4o'] });
  const error = await failing(client, PermissionDeniedError);
  assert.equal(error.code, 'model_not_allowed_for_key');
  assert.equal(error.param, 'model');
});

test('404: an unknown model is a NotFoundError', async () => {
  const error = await failing(sandbox, NotFoundError, { model: 'no-such-model' });
  assert.equal(error.code, 'model_not_found');
  assert.match(error.message, /no-such-model/);
});

test('429: the rate limit and a cap are RateLimitErrors', async () => {
  const rated = await newClient({ requestsPerMinute: 1 });
  await rated.chat.completions.create({ model: 'gpt-5-mini', messages });
  const limit = await failing(rated, RateLimitError);
  assert.equal(limit.code, 'rate_limit_exceeded');
  assert.ok(Number(limit.headers.get('retry-after')) >= 1);

  const capped = await newClient({ dailyCapMicros: zeroMicros });
  const cap = await failing(capped, RateLimitError);
  assert.equal(cap.code, 'key_daily_limit_reached');
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

test('400: a bad field is a BadRequestError that names it', async () => {
  const error = await failing(sandbox, BadRequestError, { temperature: 3 });
  assert.equal(error.code, 'invalid_request');
  assert.equal(error.param, 'temperature');
});

test('5xx: a failing provider is an InternalServerError', async () => {
  gateway.upstream.on('/v1/chat/completions', answerStatus(500));
  const error = await failing(live, InternalServerError);
  assert.equal(error.status, 502);
  assert.equal(error.code, 'upstream_error');
});

test('a stream that breaks off throws, in chat and in responses', async () => {
  const content = 'sandbox: cut_after=3';
  const chat = await sandbox.chat.completions.create({
    model: 'gpt-5-mini',
    messages: [{ role: 'user', content }],
    stream: true,
  });
  await assert.rejects(Array.fromAsync(chat), (error: unknown) => {
    assert.ok(error instanceof OpenAI.APIError);
    assert.equal(error.code, 'upstream_error');
    assert.equal(pageOf(error), '/docs/errors#upstream_error');
    return true;
  });
  const responses = await sandbox.responses.create({
    model: 'gpt-5-mini',
    input: content,
    stream: true,
  });
  await assert.rejects(Array.fromAsync(responses), (error: unknown) => {
    assert.ok(error instanceof OpenAI.APIError);
    assert.match(String(error), /upstream_error|broke off/);
    assert.equal(pageOf(error), '/docs/errors#upstream_error');
    return true;
  });
});

/** The page of the documentation that an error names. */
function pageOf({ error }: InstanceType<typeof OpenAI.APIError>): unknown {
  return (error as Readonly<Record<string, unknown>>)['documentation_url'];
}

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
}

async function newClient(options: KeyOptions): Promise<OpenAI> {
  return clientOf((await gateway.makeKey(options)).key);
}

/** The error of a small chat request; must have the expected class. */
async function failing<Failure extends InstanceType<typeof OpenAI.APIError>>(
  client: OpenAI,
  expected: new (...args: never[]) => Failure,
  fields: { model?: string; temperature?: number } = {},
): Promise<Failure & { headers: Headers }> {
  try {
    await client.chat.completions.create({ model: 'gpt-5-mini', messages, ...fields });
  } catch (error) {
    assert.ok(error instanceof expected, String(error));
    assert.deepEqual(pageOf(error), `/docs/errors#${error.code}`);
    return error as Failure & { headers: Headers };
  }
  throw new assert.AssertionError({ message: 'the request succeeded' });
}

function countsOf(usage: OpenAI.CompletionUsage | null | undefined) {
  assert.ok(usage);
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total };
}
