// The specification's statements about answers and request fields, in more depth than
// `tests/spec/`, which tests each statement once. Errors have their own test for `docs/errors.md`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answerContent } from '../support/answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { Frame, Reply } from '../support/http.ts';
import { send } from '../support/http.ts';
import { startRunningApp } from '../support/running-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';
import { answerJson, answerSse, type SseFrame } from '../support/upstream.ts';

type Json = Record<string, unknown>;

const responses = endpoint('responses');
const chat = endpoint('chat');
const messages = endpoint('messages');
const hello = 'Hello!';
const sandboxText = 'You said: Hello!\n\nThis is the sandbox: no model ran.';
const tool = {
  name: 'get_weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
const callDirective = 'sandbox: tool=get_weather {"city":"Paris"}';

const clock = new TestClock();
let gateway: TestGateway;
let testKey: string;
let liveKey: string;

before(async () => {
  gateway = await startGateway(
    { pricing: { markup: 1.5 }, aliases: { fast: 'gpt-5-mini' } },
    { clock },
  );
  testKey = gateway.program.firstTestKey;
  liveKey = (await gateway.makeKey({ mode: 'live', creditUsd: 5 })).key;
});
after(() => gateway.stop());

// ── The answers ──

test('a function_call item uses its call_id as id, and its arguments are JSON', async () => {
  const body = responses.body({ input: callDirective, tools: [{ type: 'function', ...tool }] });
  const { output } = (await ask(responses.path, body)) as { output: Json[] };
  const [call] = output;
  assertFields(call!, {
    type: 'function_call',
    name: 'get_weather',
    status: 'completed',
    call_id: isText,
  });
  assert.equal(call!['id'], call!['call_id']);
  assert.deepEqual(JSON.parse(String(call!['arguments'])), { city: 'Paris' });
});

test('the id of a function_call equals its call_id on the straight path too, whole and streamed', async () => {
  const call = {
    id: 'fc_upstream',
    type: 'function_call',
    call_id: 'call_upstream',
    name: 'get_weather',
    arguments: '{"city":"Rome"}',
  };
  const response = responseOf([{ ...call, status: 'completed' }]);
  const frame = (type: string, fields: object): SseFrame => ({
    event: type,
    data: { type, ...fields },
  });
  const place = { item_id: 'fc_upstream', output_index: 0 };
  const stream = answerSse([
    frame('response.created', {
      sequence_number: 0,
      response: { ...response, status: 'in_progress', output: [] },
    }),
    frame('response.output_item.added', {
      sequence_number: 1,
      output_index: 0,
      item: { ...call, arguments: '', status: 'in_progress' },
    }),
    frame('response.function_call_arguments.delta', {
      sequence_number: 2,
      ...place,
      delta: call.arguments,
    }),
    frame('response.function_call_arguments.done', {
      sequence_number: 3,
      ...place,
      arguments: call.arguments,
    }),
    frame('response.output_item.done', {
      sequence_number: 4,
      output_index: 0,
      item: { ...call, status: 'completed' },
    }),
    frame('response.completed', { sequence_number: 5, response }),
  ]);
  const body = responses.body({ tools: [{ type: 'function', ...tool }] });

  gateway.upstream.on(responses.upstreamPath, answerJson(response));
  const whole = (await ask(responses.path, body, liveKey)) as { output: Json[] };
  assert.deepEqual(
    [whole.output[0]!['id'], whole.output[0]!['call_id']],
    ['call_upstream', 'call_upstream'],
  );

  gateway.upstream.on(responses.upstreamPath, stream);
  const frames = (await post(responses.path, { ...body, stream: true }, liveKey)).frames.filter(
    ({ data }) => data !== '',
  );
  const text = JSON.stringify(frames);
  assert.ok(!text.includes('fc_upstream'), 'no event names the id of the upstream');
  const types = frames.map(({ event }) => event);
  assert.deepEqual(types, [
    'response.created',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ]);
});

test('whenever reasoning.effort is set, the first item is reasoning, whose summary may be empty', async () => {
  for (const effort of ['low', 'medium', 'high']) {
    const { output } = (await ask(responses.path, responses.body({ reasoning: { effort } }))) as {
      output: Json[];
    };
    assertFields(output[0]!, { id: isText, type: 'reasoning', summary: Array.isArray });
    assert.equal(output[1]!['type'], 'message');
  }
  // A provider whose answer has no reasoning, and a model that does not think.
  gateway.upstream.on(
    responses.upstreamPath,
    answerContent('responses', { text: 'Hi there', tokens: { input: 5, output: 2 } }),
  );
  for (const model of ['gpt-5-mini', 'gpt-4o']) {
    const body = responses.body({ model, reasoning: { effort: 'low' } });
    const { output } = (await ask(responses.path, body, liveKey)) as { output: Json[] };
    assert.deepEqual(
      output.map(({ type }) => type),
      ['reasoning', 'message'],
    );
    assert.deepEqual(output[0]!['summary'], []);

    const { frames } = await post(responses.path, { ...body, stream: true }, liveKey);
    const added = frames
      .filter(({ event }) => event === 'response.output_item.added')
      .map(({ data }) => data as Json);
    assert.deepEqual(
      added.map(({ output_index: index, item }) => [index, (item as Json)['type']]),
      [
        [0, 'reasoning'],
        [1, 'message'],
      ],
    );
    const deltas = frames.filter(({ event }) => event === 'response.output_text.delta');
    assert.ok(
      deltas.length > 0 && deltas.every(({ data }) => (data as Json)['output_index'] === 1),
      'later indices shift',
    );
    const final = (frames.at(-1)!.data as { response: { output: Json[] } }).response;
    assert.deepEqual(
      final.output.map(({ type }) => type),
      ['reasoning', 'message'],
    );
  }
});

test('the model of an answer is its catalogue id, whatever name was requested', async () => {
  for (const model of ['fast', 'openai/gpt-5-mini', 'gpt-5-mini-2025-08-07']) {
    assert.equal((await ask(chat.path, chat.body({ model })))['model'], 'gpt-5-mini');
    assert.equal((await ask(responses.path, responses.body({ model })))['model'], 'gpt-5-mini');
  }
  for (const model of [
    'claude-haiku-4-5-20251001',
    'anthropic/claude-haiku-4-5',
    'claude-haiku-4-5-latest',
  ]) {
    assert.equal((await ask(messages.path, messages.body({ model })))['model'], 'claude-haiku-4-5');
  }
});

// ── The streams ──

/** The specification's events; OpenAI's further ones may stand between them. */
const specified =
  /^response\.(?:created|output_item\.(?:added|done)|content_part\.(?:added|done)|output_text\.delta|completed|function_call_arguments\.(?:delta|done)|reasoning_text\.delta)$/;

test('a Responses stream of text has its events in the order of the specification, and no [DONE]', async () => {
  const events = await responseEvents(responses.body());
  assert.deepEqual(onceEach(events), [
    'response.created',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ]);
  const [first, last] = [events[0]!, events.at(-1)!];
  assert.equal((first['response'] as Json)['status'], 'in_progress');
  assert.equal((last['response'] as Json)['status'], 'completed');
  assert.equal((first['response'] as Json)['id'], (last['response'] as Json)['id']);
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta');
  assert.ok(deltas.length > 1);
  for (const delta of deltas)
    assertFields(delta, { output_index: 0, content_index: 0, delta: isText });
  assert.equal(deltas.map(({ delta }) => delta).join(''), sandboxText);
});

test('a Responses stream of a tool call has its events in the order of the specification', async () => {
  const events = await responseEvents(
    responses.body({ input: callDirective, tools: [{ type: 'function', ...tool }] }),
  );
  assert.deepEqual(onceEach(events), [
    'response.created',
    'response.output_item.added',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.output_item.done',
    'response.completed',
  ]);
  const item = events.find(({ type }) => type === 'response.output_item.added')!['item'] as Json;
  assert.deepEqual([item['type'], item['id']], ['function_call', item['call_id']]);
  const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta');
  assert.deepEqual(JSON.parse(deltas.map(({ delta }) => delta).join('')), { city: 'Paris' });
});

test('a Responses stream with reasoning begins with a reasoning item and its fragments', async () => {
  const events = await responseEvents(
    responses.body({ input: 'Hello!\nsandbox: think=A greeting.', reasoning: { effort: 'low' } }),
  );
  assert.deepEqual(onceEach(events).slice(0, 4), [
    'response.created',
    'response.output_item.added',
    'response.reasoning_text.delta',
    'response.output_item.done',
  ]);
  assert.equal((events[1]!['item'] as Json)['type'], 'reasoning');
  const fragments = events
    .filter(({ type }) => type === 'response.reasoning_text.delta')
    .map(({ delta }) => delta);
  assert.equal(fragments.join(''), 'A greeting.');
});

test('a Chat stream has data lines with id and choices, and ends with [DONE]', async () => {
  const { text, frames, headers } = await post(chat.path, chat.body({ stream: true }));
  assert.match(String(headers['content-type']), /^text\/event-stream/);
  assert.ok(text.endsWith('data: [DONE]\n\n'));
  assert.ok(!text.includes('event:'));
  const chunks = frames
    .map(({ data }) => data)
    .filter((data): data is Json => typeof data === 'object');
  assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  for (const chunk of chunks) {
    assertFields(chunk, { id: isText, object: 'chat.completion.chunk', model: 'gpt-5-mini' });
    for (const choice of chunk['choices'] as Json[]) assert.equal(choice['index'], 0);
  }
  const contents = chunks.map(
    ({ choices }) => (choices as { delta: { content?: string } }[])[0]!.delta.content ?? '',
  );
  assert.equal(contents.join(''), sandboxText);
});

test("a Messages stream has Anthropic's events in their order", async () => {
  const { frames } = await post(messages.path, messages.body({ stream: true }));
  const events = frames.filter(({ event }) => event !== null);
  for (const { event, data } of events) assert.equal(event, (data as Json)['type']);
  assert.deepEqual(onceEach(events.map(({ data }) => data as Json)), [
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ]);
});

test('a stream and a whole answer have the same content and usage', async () => {
  const whole = (await ask(responses.path, responses.body())) as { usage: Json };
  const last = (await responseEvents(responses.body())).at(-1)!['response'] as {
    usage: Json;
    output: Json[];
  };
  assert.deepEqual(last.usage, whole.usage);
  assert.equal(((last.output[0]!['content'] as Json[])[0] as Json)['text'], sandboxText);
});

// ── The catalogue ──

test('a model list entry has the fields of the specification, under its id too', async () => {
  const list = (await gateway.get('/v1/models')).json<{ object: string; data: Json[] }>();
  assert.equal(list.object, 'list');
  assert.ok(list.data.length > 20);
  for (const entry of list.data) {
    assertFields(entry, { id: isText, object: 'model', created: isCount, owned_by: isText });
    assert.ok(Number(entry['created']) > 1_500_000_000, 'a real date, in seconds');
  }
  const entry = list.data.find(({ id }) => id === 'gpt-5-mini')!;
  assert.deepEqual([entry['created'], entry['owned_by']], [Date.UTC(2025, 7, 7) / 1_000, 'openai']);
  assert.deepEqual((await gateway.get('/v1/models/gpt-5-mini')).json(), entry);
  assert.equal(
    (await gateway.get('/v1/models/fast')).json()['id'],
    'fast',
    'an alias is listed under its own name',
  );
});

test("model info has the fields of the specification, at list prices without a key and at the account's with one", async () => {
  const infoOf = async (key?: string) => {
    const { data } = (await gateway.get('/v1/models/info', { key })).json<{ data: Json[] }>();
    return data.find(({ id }) => id === 'gpt-5-mini')!;
  };
  const info = await infoOf();
  // $0.25 input, $2 output, $0.025 cached, times the markup of 1.5. Cache writes without a price
  // cost as much as input; one-hour writes twice that.
  const listPrices = {
    input_price_per_1m: 0.375,
    output_price_per_1m: 3,
    cache_write_price_per_1m: 0.375,
    cache_write_1h_price_per_1m: 0.75,
    cache_read_price_per_1m: 0.0375,
  };
  assert.deepEqual(info, {
    id: 'gpt-5-mini',
    display_name: 'GPT-5 Mini',
    context_window: 400_000,
    max_input_tokens: 400_000,
    max_prompt_tokens: 400_000,
    max_output_tokens: 128_000,
    supports_thinking: true,
    supports_streaming: true,
    supports_vision: true,
    ...listPrices,
    price_tiers: [],
    scheduled_prices: [],
    search_prices: { web_search: 0.015, web_search_preview: 0.015 },
  });

  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await gateway.database.write
    .updateTable('accounts')
    .set({ price_multiplier_ppm: 800_000 })
    .where('id', '=', account)
    .execute();
  const own = await infoOf(key);
  assert.deepEqual(
    [own['input_price_per_1m'], own['output_price_per_1m'], own['cache_read_price_per_1m']],
    [0.3, 2.4, 0.03],
    'a fifth less',
  );
  gateway.upstream.on(
    chat.upstreamPath,
    answerContent('chat', { text: 'yes', tokens: { input: 1_000, output: 100 } }),
  );
  assert.equal((await post(chat.path, chat.body(), key)).costMicros, 540, 'charged as shown');

  await gateway.program.cli(
    'accounts',
    'update',
    account,
    '--model',
    'gpt-5-mini',
    '--price-multiplier',
    '0.5',
  );
  await untilNoticed(clock, async () => (await infoOf(key))['output_price_per_1m'] === 1.5);
  assert.equal(
    (await post(chat.path, chat.body(), key)).costMicros,
    338,
    'one model at half its price, rounded up once',
  );
  await gateway.program.cli(
    'accounts',
    'update',
    account,
    '--model',
    'gpt-5-mini',
    '--price-multiplier',
    'none',
    '--frozen',
    'yes',
  );
  assert.equal(
    (await post(chat.path, chat.body(), key)).status,
    403,
    'the ledger needs no poll to see that',
  );
  await untilNoticed(clock, async () => (await infoOf(key))['output_price_per_1m'] === 2.4);
});

// ── Balance and usage ──

test('the balance has the fields of the specification, and counts every token', async () => {
  const { key } = await gateway.makeKey();
  const read = async () => (await gateway.get('/v1/balance', { key })).json();
  assert.deepEqual(await read(), {
    balance_cents: 100_000,
    total_input_tokens: 0,
    total_output_tokens: 0,
    total_tokens_used: 0,
  });
  await ask(chat.path, chat.body(), key);
  await ask(messages.path, messages.body(), key);
  assert.deepEqual(await read(), {
    balance_cents: 99_999,
    total_input_tokens: 4,
    total_output_tokens: 26,
    total_tokens_used: 30,
  });
});

test('a usage record has the fields of the specification; its model is the display name', async () => {
  const { key, id } = await gateway.makeKey();
  const reply = await post(chat.path, chat.body(), key);
  const page = (await gateway.get('/v1/usage', { key })).json<{
    data: Json[];
    next_cursor: null;
  }>();
  assert.deepEqual(Object.keys(page), ['data', 'next_cursor']);
  const [record] = page.data;
  assert.deepEqual(record, {
    created_at: record!['created_at'],
    model: 'GPT-5 Mini',
    model_id: 'gpt-5-mini',
    key_id: id,
    input_tokens: 2,
    output_tokens: 13,
    total_tokens: 15,
    cost_cents: reply.costMicros! / 10_000,
    request_id: reply.requestId,
  });
  assert.match(String(record['created_at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(Math.abs(Date.parse(String(record['created_at'])) - clock.nowMs()) < 60_000);
});

type Page = {
  readonly data: readonly { readonly request_id: string; readonly created_at: string }[];
  readonly next_cursor: string | null;
};

test('usage is paged, newest first, without gaps or repeats while new records arrive', async () => {
  const { key } = await gateway.makeKey();
  const page = async (query: string) =>
    (await gateway.get(`/v1/usage?${query}`, { key })).json<Page>();
  const run = async (count: number) => {
    const made = await Promise.all(
      Array.from({ length: count }, () => post(chat.path, chat.body(), key)),
    );
    return made.map(({ requestId }) => requestId);
  };
  const ids = await run(45);

  const first = await page('');
  assert.equal(first.data.length, 20, 'the default');
  assert.match(
    first.next_cursor!,
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\|req_\w+$/,
    '<timestamp>|<record_id>',
  );
  await run(3);
  const second = await page(`cursor=${encodeURIComponent(first.next_cursor!)}`);
  await run(2);
  const third = await page(`cursor=${encodeURIComponent(second.next_cursor!)}&limit=20`);
  assert.equal(third.next_cursor, null, 'the last page');
  const seen = [...first.data, ...second.data, ...third.data];
  assert.deepEqual(seen.map((record) => record.request_id).toSorted(), ids.toSorted());
  const times = seen.map((record) => record.created_at);
  assert.deepEqual(times, times.toSorted().toReversed());

  assert.equal((await page('limit=100')).data.length, 50);
  const exact = await page('limit=50');
  assert.deepEqual(
    [exact.data.length, exact.next_cursor],
    [50, null],
    'a last page that is full has no next one',
  );
  const singles = await page('limit=1');
  assert.equal(singles.data.length, 1);
  assert.notEqual(singles.next_cursor, null);
});

test('a limit outside 1 to 100 and an invalid cursor are 400', async () => {
  const { key } = await gateway.makeKey();
  for (const limit of ['0', '101', '-1', '1.5', 'ten', '1e1', '+5', ' 5', '99999999999']) {
    const reply = await gateway.get(`/v1/usage?limit=${encodeURIComponent(limit)}`, { key });
    assert.deepEqual(
      [reply.status, reply.error.code, reply.error.param],
      [400, 'invalid_request', 'limit'],
      limit,
    );
  }
  for (const limit of ['1', '100'])
    assert.equal((await gateway.get(`/v1/usage?limit=${limit}`, { key })).status, 200);
  const cursors = [
    'x',
    '|',
    '2026-11-20T00:00:00.000Z',
    '2026-02-31T00:00:00.000Z|req_1',
    '2026-11-20|req_1',
    "2026-11-20T00:00:00.000Z|'; drop",
  ];
  for (const cursor of cursors) {
    const reply = await gateway.get(`/v1/usage?cursor=${encodeURIComponent(cursor)}`, { key });
    assert.deepEqual([reply.status, reply.error.param], [400, 'cursor'], cursor);
  }
  assert.equal((await gateway.get('/v1/usage?limit=1&limit=2', { key })).status, 400);
});

test('only its own account finds usage by request id', async () => {
  const [mine, theirs] = [await gateway.makeKey(), await gateway.makeKey()];
  const { requestId } = await post(chat.path, chat.body(), mine.key);
  await post(chat.path, chat.body(), mine.key);
  const find = async (key: string, id: string) =>
    (await gateway.get(`/v1/usage?request_id=${id}`, { key })).json<Page>();
  assert.deepEqual(
    (await find(mine.key, requestId)).data.map((record) => record.request_id),
    [requestId],
  );
  assert.deepEqual(await find(theirs.key, requestId), { data: [], next_cursor: null });
  assert.deepEqual(await find(mine.key, 'req_none'), { data: [], next_cursor: null });
  const colleague = await gateway.makeKey({ account: mine.account });
  assert.equal(
    (await find(colleague.key, requestId)).data.length,
    1,
    'account-wide, across its keys',
  );
});

// ── The request fields ──

const text = (content: unknown) => [{ role: 'user', content }];
const image =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';
const conversation = [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
  { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Paris"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
];

const accepted: Readonly<Record<string, readonly object[]>> = {
  responses: [
    { input: hello },
    { input: [{ type: 'message', role: 'user', content: hello }] },
    { input: [{ role: 'user', content: hello }] },
    {
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: hello },
            { type: 'input_image', image_url: image },
          ],
        },
      ],
    },
    { input: conversation, tools: [{ type: 'function', ...tool }] },
    { instructions: 'Be brief.' },
    { max_output_tokens: 128_000 },
    { temperature: 0 },
    { temperature: 2 },
    { top_p: 0 },
    { top_p: 1 },
    { tools: [{ type: 'function', ...tool }], tool_choice: 'none', parallel_tool_calls: false },
    {
      tools: [{ type: 'function', ...tool }],
      tool_choice: { type: 'function', name: 'get_weather' },
    },
    ...['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((effort) => ({
      reasoning: { effort },
    })),
    { reasoning: {} },
    { truncation: 'auto' },
    { truncation: 'disabled' },
    { previous_response_id: 'resp_of_another_day' },
    { store: true },
    { store: false },
    { stream: false, metadata: { a: 'b' }, user: 'u' },
    {
      temperature: null,
      instructions: null,
      tools: null,
      reasoning: null,
      previous_response_id: null,
    },
  ],
  chat: [
    {
      messages: text([
        { type: 'text', text: hello },
        { type: 'image_url', image_url: { url: image } },
      ]),
    },
    { messages: [{ role: 'system', content: 'Be brief.' }, ...text(hello)] },
    { messages: [{ role: 'developer', content: 'Be brief.' }, ...text(hello)] },
    { max_tokens: 1 },
    { max_tokens: 2_048 },
    { max_completion_tokens: 100_000 },
    { temperature: 0 },
    { temperature: 2 },
    { top_p: 1 },
    { stop: 'x' },
    { max_tokens: null, temperature: null, stream: null },
  ],
  messages: [
    { system: 'Be brief.' },
    { system: [{ type: 'text', text: 'Be brief.' }] },
    { messages: text([{ type: 'text', text: hello }]) },
    { max_tokens: 64_000 },
    { temperature: 0 },
    { temperature: 1 },
    { top_p: 0.5, top_k: 40 },
    { stop_sequences: ['x'] },
    { metadata: { user_id: 'u' } },
    {
      tools: [{ name: 'get_weather', input_schema: { type: 'object' } }],
      tool_choice: { type: 'auto' },
    },
  ],
};

const refused: Readonly<Record<string, readonly (readonly [object, string])[]>> = {
  responses: [
    [{ input: undefined }, 'input'],
    [{ input: 5 }, 'input'],
    [{ input: [{ type: 'message', role: 'robot', content: hello }] }, 'input[0].role'],
    [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text'],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, 'input[0].arguments'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ temperature: 2.01 }, 'temperature'],
    [{ top_p: -0.1 }, 'top_p'],
    [{ reasoning: { effort: 'enormous' } }, 'reasoning.effort'],
    [{ truncation: 'sometimes' }, 'truncation'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ tool_choice: 'perhaps' }, 'tool_choice'],
    [{ store: 'yes' }, 'store'],
  ],
  chat: [
    [{ messages: undefined }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'robot', content: hello }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ max_tokens: 2_049 }, 'max_tokens'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ temperature: 2.01 }, 'temperature'],
    [{ temperature: -0.01 }, 'temperature'],
    [{ top_p: 1.01 }, 'top_p'],
  ],
  messages: [
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ messages: undefined }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ temperature: 1.01 }, 'temperature'],
    [{ temperature: -0.01 }, 'temperature'],
    [{ top_k: -1 }, 'top_k'],
    [{ stop_sequences: 'x' }, 'stop_sequences'],
    [{ system: 5 }, 'system'],
  ],
};

for (const { name, path, body } of endpoints) {
  test(`${path} accepts every field of the specification, up to its limits`, async () => {
    for (const fields of accepted[name]!) {
      const reply = await post(path, body({ max_completion_tokens: undefined, ...fields }));
      assert.equal(reply.status, 200, `${JSON.stringify(fields)}: ${reply.text}`);
    }
  });

  test(`${path} refuses values beyond those limits and names the field`, async () => {
    for (const [fields, param] of refused[name]!) {
      const reply = await post(path, body(fields));
      assert.equal(reply.status, 400, `${JSON.stringify(fields)}: ${reply.text}`);
      assert.equal(reply.error.param, param, reply.text);
      assert.ok(reply.error.message.includes(param.split(/[.[]/)[0]!), reply.text);
    }
  });
}

test('the error for chat max_tokens names the setting, which may have another value or null', async () => {
  const refusal = await post(chat.path, chat.body({ max_tokens: 2_049 }));
  assert.match(refusal.error.message, /2048.*limits\.chat_max_tokens/);
  for (const [limit, status] of [
    [100, 400],
    [null, 200],
  ] as const) {
    const app = await startRunningApp({ config: { limits: { chat_max_tokens: limit } } });
    const reply = await send(app.url + chat.path, {
      key: app.firstTestKey,
      body: chat.body({ max_completion_tokens: undefined, max_tokens: 20_000 }),
    });
    assert.equal(reply.status, status, reply.text);
    await app.stop();
  }
});

test('store and previous_response_id are ignored: nothing is stored at the provider', async () => {
  gateway.upstream.on(
    responses.upstreamPath,
    answerContent('responses', { text: 'yes', tokens: { input: 5, output: 1 } }),
  );
  const next = gateway.upstream.requests.length;
  const reply = await post(
    responses.path,
    responses.body({ store: true, previous_response_id: 'resp_1' }),
    liveKey,
  );
  assert.equal(reply.status, 200);
  const sent = (await gateway.upstream.request(next)).body as Json;
  assert.equal(sent['store'], false);
  assert.ok(!('previous_response_id' in sent));
  assert.equal(sent['model'], 'gpt-5-mini');
});

test('an ignored previous_response_id is listed in the header and in `warnings` of every response object, on every path', async () => {
  const content = { text: 'yes', tokens: { input: 5, output: 1 } };
  for (const { name, upstreamPath } of endpoints)
    gateway.upstream.on(upstreamPath, answerContent(name, content));
  const ways = [
    ['gpt-5-mini', testKey],
    ['gpt-5-mini', liveKey],
    ['claude-haiku-4-5', liveKey],
  ] as const;
  for (const [model, key] of ways) {
    for (const stream of [false, true]) {
      const body = { model, stream, input: hello, previous_response_id: 'resp_1' };
      const reply = await post(responses.path, body, key);
      assert.equal(reply.status, 200, reply.text);
      assert.match(String(reply.headers['x-service-ignored']), /\bprevious_response_id\b/);
      const shown: Json[] = stream
        ? reply.frames.map(({ data }) => (data ?? {}) as Json)
        : [{ response: reply.json() }];
      const shownResponses = shown.flatMap(({ response }) =>
        response === undefined ? [] : [response as Json],
      );
      assert.ok(shownResponses.length >= (stream ? 2 : 1));
      for (const { warnings } of shownResponses) {
        const [warning, ...others] = warnings as Json[];
        assert.deepEqual(others, []);
        assert.equal(warning!['code'], 'previous_response_id_ignored');
        assert.equal(warning!['param'], 'previous_response_id');
        assert.match(String(warning!['message']), /whole conversation in `input`/);
      }
      const { previous_response_id: _, ...without } = body;
      assert.doesNotMatch((await post(responses.path, without, key)).text, /"warnings"/);
    }
  }
});

test('health and readiness need no key', async () => {
  assert.deepEqual((await gateway.get('/healthz')).json(), { status: 'ok' });
  assert.deepEqual((await gateway.get('/readyz')).json(), { status: 'ready' });
});

async function post(path: string, body: object, key = testKey): Promise<Reply> {
  return gateway.post(path, { key, body });
}

async function ask(path: string, body: object, key = testKey): Promise<Json> {
  const reply = await post(path, body, key);
  assert.equal(reply.status, 200, reply.text);
  return reply.json();
}

/** The specification's events of a Responses stream. Checks the rules of each event. */
async function responseEvents(body: object): Promise<Json[]> {
  const { text: stream, frames } = await post(responses.path, { ...body, stream: true });
  assert.ok(!stream.includes('[DONE]'));
  const events = frames.filter((frame): frame is Frame & { data: Json } => frame.event !== null);
  events.forEach(({ event, data }, index) => {
    assert.equal(event, data['type'], 'the event line equals the type');
    assert.equal(data['sequence_number'], index, 'numbered without a gap');
  });
  assert.equal(events.at(-1)!.event, 'response.completed');
  return events.map(({ data }) => data).filter(({ type }) => specified.test(String(type)));
}

/** The event types in order; repeats are listed once. */
function onceEach(events: readonly Json[]): unknown[] {
  return events.map(({ type }) => type).filter((type, index, types) => type !== types[index - 1]);
}

function responseOf(output: readonly object[]): Json {
  return {
    id: 'resp_upstream',
    object: 'response',
    created_at: 1_790_000_000,
    status: 'completed',
    model: 'gpt-5-mini-2025-08-07',
    output,
    usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
  };
}

type Expected = string | number | boolean | null | ((value: unknown) => boolean);

function assertFields(value: Json, expected: Readonly<Record<string, Expected>>): void {
  for (const [name, wanted] of Object.entries(expected)) {
    if (typeof wanted === 'function')
      assert.ok(wanted(value[name]), `${name} is ${JSON.stringify(value[name])}`);
    else assert.equal(value[name], wanted, name);
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
