// Web searches run by the provider, on the straight path through the started program: holds,
// charges, and that all their content passes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { after, test } from 'node:test';
import { text as readAll } from 'node:stream/consumers';
import { microsFromUsd } from '../../src/lib/money.ts';
import { answerContent } from '../support/answers.ts';
import { endpoint, type Endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { Reply } from '../support/http.ts';
import { flushEventLoop, TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  resetInMidAnswer,
  thenHang,
  type Script,
  type SseFrame,
} from '../support/upstream.ts';

const prices = { input: 3, output: 15 };
const routeTo = (provider: string) => ({ provider, model: 'm' });
/** It sells no search. */
const spare = (kind: string) => ({ kind, api_key: 'k', tool_prices: { web_search: null } });
const model = (provider: string) => ({
  routes: [routeTo(provider)],
  prices,
  context_tokens: 200_000,
  max_input_tokens: 180_000,
  max_output_tokens: 8_000,
  supports: { thinking: false, streaming: true, vision: false },
});
/** $0.01 a search, with the configuration's markup. */
const searchMicros = 12_500;
/** A price stated on the model gets no markup. */
const statedMicros = 20_000;

/** How long the gateway reads an upstream on after its client has left. */
const readOnMs = 5_000;

const clock = new TestClock();

const gateway = await startGateway(
  ({ url }) => ({
    providers: {
      'spare-openai': { ...spare('openai'), base_url: `${url}/spare/v1` },
      'spare-anthropic': { ...spare('anthropic'), base_url: `${url}/spare` },
    },
    pricing: { markup: 1.25 },
    models: {
      'search-openai': model('openai'),
      'search-anthropic': model('anthropic'),
      'search-stated': {
        ...model('openai'),
        tool_prices: { web_search: 0.02, web_search_preview: null },
      },
      'search-local': model('local'),
      ...Object.fromEntries(
        ['openai', 'anthropic'].flatMap((provider) =>
          [`spare-${provider}`, 'local'].map((first) => [
            `${first}-then-${provider}`,
            { ...model(provider), routes: [first, provider].map(routeTo) },
          ]),
        ),
      ),
    },
  }),
  { clock },
);
after(() => gateway.stop());

type Case = Pick<Endpoint, 'name' | 'path' | 'body'> & {
  /** The search tool; `searchesMax` stands in the format's own place. */
  readonly asks: (searchesMax?: number) => object;
  readonly whole: (searches: number, tokens: Tokens) => object;
  readonly frames: (searches: number, tokens: Tokens) => readonly SseFrame[];
  /** The frame at which this many searches, and nothing else, are done. */
  readonly framesOfSearch: number;
  readonly textDelta: SseFrame;
  readonly limitSent: (upstream: Sent) => unknown;
};
type Tokens = { readonly input: number; readonly output: number };
type Sent = {
  readonly tools?: readonly { readonly max_uses?: number }[];
  readonly max_tool_calls?: number;
};

const searchCall = (index: number) => ({
  type: 'web_search_call',
  id: `ws_${index}`,
  status: 'completed',
  action: { type: 'search', query: 'x', queries: ['x'] },
});
const text = 'one two three four';
const message = {
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content: [
    {
      type: 'output_text',
      text,
      annotations: [
        { type: 'url_citation', url: 'https://a.b', title: 'A', start_index: 0, end_index: 3 },
      ],
    },
  ],
};
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

const responses: Case = {
  ...endpoint('responses'),
  body: (fields) => endpoint('responses').body({ model: 'search-openai', ...fields }),
  asks: (searchesMax) => ({
    tools: [{ type: 'web_search' }],
    ...(searchesMax && { max_tool_calls: searchesMax }),
  }),
  whole: (searches, { input, output }) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [...range(searches).map(searchCall), message],
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  }),
  frames: (searches, tokens) => {
    let number = 0;
    const frame = (type: string, fields: object) =>
      frameOf(type, { sequence_number: number++, ...fields });
    const items = [...range(searches).map(searchCall), message];
    return [
      frame('response.created', { response: { id: 'resp_1', status: 'in_progress', output: [] } }),
      ...items.flatMap((item, index) => [
        frame('response.output_item.added', {
          output_index: index,
          item: { ...item, status: 'in_progress' },
        }),
        frame('response.output_item.done', { output_index: index, item }),
      ]),
      frame('response.completed', { response: responses.whole(searches, tokens) }),
    ];
  },
  framesOfSearch: 3,
  textDelta: frameOf('response.output_text.delta', {
    item_id: 'msg_1',
    output_index: 9,
    content_index: 0,
    delta: 'one',
  }),
  limitSent: ({ max_tool_calls: limit }) => limit,
};

const use = (index: number) => ({
  type: 'server_tool_use',
  id: `srvtoolu_${index}`,
  name: 'web_search',
  input: { query: 'x' },
});
const found = (index: number) => ({
  type: 'web_search_tool_result',
  tool_use_id: `srvtoolu_${index}`,
  content: [
    {
      type: 'web_search_result',
      url: 'https://a.b',
      title: 'A',
      encrypted_content: 'EqgfCioIARgB',
      page_age: null,
    },
  ],
});
const messagesUsage = (searches: number, { input, output }: Tokens) => ({
  input_tokens: input,
  output_tokens: output,
  server_tool_use: { web_search_requests: searches },
});
const anthropicTool = { type: 'web_search_20250305', name: 'web_search' };

const messages: Case = {
  ...endpoint('messages'),
  body: (fields) => endpoint('messages').body({ model: 'search-anthropic', ...fields }),
  asks: (searchesMax) => ({
    tools: [{ ...anthropicTool, ...(searchesMax && { max_uses: searchesMax }) }],
  }),
  whole: (searches, tokens) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [
      ...range(searches).flatMap((index) => [use(index), found(index)]),
      { type: 'text', text },
    ],
    stop_reason: 'end_turn',
    usage: messagesUsage(searches, tokens),
  }),
  frames: (searches, tokens) => {
    const blocks = range(searches).flatMap((index) => [use(index), found(index)]);
    const head = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 9, output_tokens: 1 },
    };
    return [
      frameOf('message_start', { message: head }),
      ...blocks.flatMap((block, index) => [
        frameOf('content_block_start', { index, content_block: block }),
        frameOf('content_block_stop', { index }),
      ]),
      frameOf('content_block_start', {
        index: blocks.length,
        content_block: { type: 'text', text: '' },
      }),
      frameOf('content_block_delta', { index: blocks.length, delta: { type: 'text_delta', text } }),
      frameOf('content_block_stop', { index: blocks.length }),
      frameOf('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: messagesUsage(searches, tokens),
      }),
      frameOf('message_stop'),
    ];
  },
  framesOfSearch: 5,
  textDelta: frameOf('content_block_delta', {
    index: 9,
    delta: { type: 'text_delta', text: 'one' },
  }),
  limitSent: ({ tools }) => tools?.[0]?.max_uses,
};

const cases = [responses, messages];

const play = (wire: Case, searches: number, tokens: Tokens): Script => {
  const whole = answerJson(wire.whole(searches, tokens));
  const stream = answerSse(wire.frames(searches, tokens));
  return (response, request) =>
    ((request.body as { stream?: boolean }).stream ? stream : whole)(response, request);
};
const tokenMicros = ({ input, output }: Tokens) => input * prices.input + output * prices.output;

test('each search is charged in addition to the tokens, whole and streamed, and the record has their number', async (t) => {
  for (const wire of cases) {
    await t.test(wire.name, async () => {
      const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
      for (const searches of [0, 1, 3]) {
        // Several rounds are counted together: more than the context of one.
        const tokens = { input: searches === 3 ? 300_001 : 8_611, output: 20 };
        gateway.upstream.on(wire.path, play(wire, searches, tokens));
        for (const stream of [false, true]) {
          const earlier = (await gateway.balance(account)).availableMicros;
          const reply = await gateway.ask(wire, key, { ...wire.asks(4), stream });
          const cost = tokenMicros(tokens) + searches * searchMicros;
          const where = `${wire.name}, ${searches} searches, stream ${stream}`;
          assert.equal(reply.status, 200, reply.text);
          assert.equal(reply.costMicros, cost, where);
          assert.equal((await gateway.balance(account)).availableMicros, earlier - cost, where);
          const record = await recordOf(key, reply.requestId);
          assert.deepEqual(
            [record.cost_cents, record.web_searches ?? 0, record.input_tokens],
            [cost / 10_000, searches, tokens.input],
          );
        }
      }
      assert.equal((await gateway.balance(account)).heldMicros, 0);
    });
  }
});

test('a search limit of the client is sent and held; without one the gateway sends its own', async () => {
  for (const wire of cases) {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
    gateway.upstream.on(wire.path, play(wire, 1, { input: 100, output: 20 }));
    const reserved: number[] = [];
    for (const [searchesMax, sent] of [
      [1, 1],
      [undefined, 5],
    ] as const) {
      const first = gateway.upstream.requests.length;
      const reply = await gateway.ask(wire, key, { ...wire.asks(searchesMax), stream: true });
      assert.equal(reply.status, 200, reply.text);
      const { body } = await gateway.upstream.request(first);
      assert.equal(wire.limitSent(body as Sent), sent, wire.name);
      reserved.push(Number(reply.headers['x-service-reserved-micros']));
    }
    // One search: the prompt is read twice, and 10 000 tokens of results once. Five searches:
    // fifteen such.
    const [one, five] = reserved as [number, number];
    assert.ok(one >= searchMicros + 10_000 * prices.input, `${wire.name} ${one}`);
    assert.ok(five >= 5 * searchMicros + 150_000 * prices.input, `${wire.name} ${five}`);
    assert.ok(five - one >= 4 * searchMicros + 140_000 * prices.input, wire.name);
  }
});

test('results, citations and history pass unchanged', async () => {
  for (const wire of cases) {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
    gateway.upstream.on(wire.path, play(wire, 2, { input: 100, output: 20 }));
    const first = gateway.upstream.requests.length;
    const whole = wire.whole(2, { input: 100, output: 20 }) as {
      output?: object[];
      content?: object[];
    };
    const said = whole.output ?? whole.content!;
    const [question, further] = ['Search!', 'More'].map((content) => ({ role: 'user', content }));
    const history =
      wire.name === 'responses'
        ? { input: [question, ...said, further] }
        : { messages: [question, { role: 'assistant', content: said }, further] };
    const reply = await gateway.ask(wire, key, { ...wire.asks(), ...history });
    assert.equal(reply.status, 200, reply.text);
    const answered = reply.json<{ output?: object[]; content?: object[] }>();
    assert.deepEqual(answered.output ?? answered.content, said, wire.name);
    const sent = (await gateway.upstream.request(first)).body as Record<string, unknown>;
    for (const [name, value] of Object.entries(history))
      assert.deepEqual(sent[name], value, wire.name);
  }
});

test('a count above the allowed searches is not charged; the rest is a booked loss', async () => {
  const tokens = { input: 100, output: 20 };
  for (const wire of cases) {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
    gateway.upstream.on(wire.path, play(wire, 7, tokens));
    for (const stream of [false, true]) {
      const reply = await gateway.ask(wire, key, { ...wire.asks(2), stream });
      assert.equal(reply.costMicros, tokenMicros(tokens) + 2 * searchMicros, wire.name);
      // Without the markup.
      assert.deepEqual(await gateway.lossesOf(reply.requestId), [5 * 10_000], wire.name);
      const unasked = await gateway.ask(wire, key, { stream });
      assert.equal(unasked.costMicros, tokenMicros(tokens), 'no search was requested');
    }
  }
});

test('a client that leaves pays for the searches done so far and the results that were read, and a failure is free', async () => {
  for (const searches of [1, 4]) {
    const answers = new Map<Case, ServerResponse>();
    const state = { isOver: false };
    const leaving = Promise.all(cases.map((wire) => leave(wire, searches, answers)));
    const left = leaving.finally(() => (state.isOver = true));
    await until(() => clock.dueIn(readOnMs) === cases.length);
    // Then the model shows what it writes, and is stopped.
    await clock.advance(readOnMs - 500);
    while (!state.isOver) {
      for (const [wire, answer] of answers) answer.write(framesText([wire.textDelta]));
      await flushEventLoop();
      await clock.advance(500);
    }
    await left;
  }
  for (const wire of cases) {
    const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
    const frames = wire.frames(2, { input: 1, output: 1 }).slice(0, wire.framesOfSearch);
    const cut = resetInMidAnswer(frames);
    gateway.upstream.on(wire.path, cut.script);
    const body = wire.body({ ...wire.asks(), stream: true });
    const stream = await gateway.open(wire.path, { key, body }).response;
    await once(stream, 'readable');
    cut.release();
    const reply = new Reply(stream, await readAll(stream));
    assert.equal(reply.costMicros, null, wire.name);
    await gateway.assertLeft(account, 20_000_000, wire.name);
    const [loss] = await gateway.lossesOf(reply.requestId);
    assert.ok(loss! >= 10_000, `the operator paid the search: ${loss}`);
  }
});

async function leave(
  wire: Case,
  searches: number,
  answers: Map<Case, ServerResponse>,
): Promise<void> {
  const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
  const frames = wire
    .frames(searches + 1, { input: 1, output: 1 })
    .slice(0, 1 + searches * (wire.framesOfSearch - 1));
  gateway.upstream.on(wire.path, (answer, request) => {
    answers.set(wire, answer);
    return thenHang(framesText(frames))(answer, request);
  });
  const body = wire.body({ ...wire.asks(), stream: true });
  const { request, response } = gateway.open(wire.path, { key, body });
  const stream = await response;
  await once(stream, 'data');
  request.destroy();
  const record = await waitForRecord(key);
  assert.equal(record.web_searches, searches, wire.name);
  const tokens = { input: record.input_tokens, output: record.output_tokens };
  const cost = tokenMicros(tokens) + searches * searchMicros;
  // 6 000 tokens for each result, read again in each later round, and the prompt in every round.
  const resultTokens = (6_000 * searches * (searches + 1)) / 2;
  const promptTokens = (record.input_tokens - resultTokens) / (searches + 1);
  assert.ok(promptTokens > 0 && promptTokens < 100, `${wire.name}: ${record.input_tokens}`);
  assert.equal(record.cost_cents, cost / 10_000, wire.name);
  await gateway.assertLeft(account, 20_000_000 - cost, wire.name);
}

test('a balance or cap too small for the searches is a 402 or 429 with the numbers, and fewer searches fit', async () => {
  for (const wire of cases) {
    gateway.upstream.on(wire.path, play(wire, 1, { input: 100, output: 20 }));
    const poor = await gateway.makeKey({ mode: 'live', creditUsd: 0.3 });
    const dailyCapMicros = microsFromUsd(0.3);
    const capped = await gateway.makeKey({ mode: 'live', creditUsd: 20, dailyCapMicros });
    for (const [key, status, code] of [
      [poor.key, 402, 'insufficient_balance'],
      [capped.key, 429, 'key_daily_limit_reached'],
    ] as const) {
      const refused = await gateway.ask(wire, key, wire.asks(5));
      assert.deepEqual([refused.status, refused.error.code], [status, code], refused.text);
      assert.match(
        refused.error.message,
        /with 5 web searches.*a lower `(max_tool_calls|tools\[0\]\.max_uses)` allows fewer/,
      );
      if (wire.name === 'responses') {
        const details = refused.error.details!;
        assert.deepEqual([details['web_searches'], details['left_micros']], [5, 300_000]);
        assert.ok(Number(details['required_micros']) > 5 * searchMicros + 150_000 * prices.input);
      }
      const served = await gateway.ask(wire, key, wire.asks(1));
      assert.equal(served.status, 200, served.text);
    }
  }
});

test('without a limit, a balance with room for one search gets one, and with room for none a 402', async () => {
  for (const wire of cases) {
    const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 0.3 });
    gateway.upstream.on(wire.path, play(wire, 5, { input: 100, output: 20 }));
    const first = gateway.upstream.requests.length;
    const reply = await gateway.ask(wire, key, wire.asks());
    const { body } = await gateway.upstream.request(first);
    assert.equal(wire.limitSent(body as Sent), 1, wire.name);
    const cost = tokenMicros({ input: 100, output: 20 }) + searchMicros;
    assert.equal(reply.costMicros, cost, 'and is charged for no more');
    assert.equal(reply.headers['x-service-output-limit'], undefined);
    const poorer = await gateway.makeKey({ mode: 'live', creditUsd: 0.03 });
    const refused = await gateway.ask(wire, poorer.key, wire.asks());
    assert.equal(refused.status, 402, refused.text);
    assert.match(
      refused.error.message,
      /with one web search, whose results are read as input, and the balance/,
    );
  }
});

test('a price on the model overrides the one of its provider, without the markup, and `null` disables searches', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
  const tokens = { input: 100, output: 20 };
  gateway.upstream.on(responses.path, play(responses, 2, tokens));
  const reply = await gateway.ask(responses, key, { model: 'search-stated', ...responses.asks() });
  assert.equal(reply.costMicros, tokenMicros(tokens) + 2 * statedMicros);
  const tools = [{ type: 'web_search_preview' }];
  const forced = { tools, tool_choice: { type: 'web_search_preview' } };
  const refused = await gateway.ask(responses, key, { model: 'search-stated', ...forced });
  assert.deepEqual([refused.status, refused.error.param], [400, 'tools[0].type'], refused.text);
  assert.match(refused.error.message, /`tool_prices`/);
  const without = await gateway.ask(responses, key, { model: 'search-stated', tools });
  assert.equal(without.headers['x-service-ignored'], 'tools[0]');
  assert.equal(without.costMicros, tokenMicros(tokens), 'a search that did not run is free');
  const dearer = await gateway.ask(responses, key, { tools });
  assert.equal(
    dearer.costMicros,
    tokenMicros(tokens) + 2 * 31_250,
    '$0.025 on a model that does not think',
  );
});

test('a route that runs the search comes before those that leave it out', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
  const tokens = { input: 100, output: 20 };
  const plain = { text, tokens };
  gateway.upstream.on('/local/v1/chat/completions', answerContent('chat', plain));
  for (const [wire, provider] of [
    [responses, 'openai'],
    [messages, 'anthropic'],
  ] as const) {
    gateway.upstream.on(wire.path, play(wire, 1, tokens));
    gateway.upstream.on(`/spare${wire.path}`, answerContent(wire.name, plain));
    for (const first of [`spare-${provider}`, 'local']) {
      const asked = { model: `${first}-then-${provider}` };
      const reply = await gateway.ask(wire, key, { ...asked, ...wire.asks(1) });
      assert.equal(reply.headers['x-service-ignored'], undefined);
      assert.equal(reply.costMicros, tokenMicros(tokens) + searchMicros, reply.text);
      const other = await gateway.recordUpstream(() => gateway.ask(wire, key, asked));
      assert.doesNotMatch(other.asked[0]!.path, new RegExp(`^${wire.path}`), first);
    }
    gateway.upstream.on(wire.path, answerStatus(503));
    const asked = { model: `spare-${provider}-then-${provider}`, ...wire.asks(1) };
    const reply = await gateway.ask(wire, key, asked);
    // A Messages request does not go to a route that would leave out its search.
    assert.equal(reply.status, wire === messages ? 503 : 200, reply.text);
    if (wire === responses) assert.equal(reply.headers['x-service-ignored'], 'tools[0]');
  }
  const counts = '/v1/messages/count_tokens';
  gateway.upstream.on(counts, answerJson({ input_tokens: 7 }));
  gateway.upstream.on(`/spare${counts}`, answerJson({ input_tokens: 5 }));
  const { max_tokens: _, ...body } = messages.body(messages.asks()) as { max_tokens: number };
  const counted = await gateway.post(counts, {
    key,
    body: { ...body, model: 'spare-anthropic-then-anthropic' },
  });
  assert.equal(counted.text, '{"input_tokens":7}');
});

test("Chat's search is charged once per answer on a provider with a price for it", async () => {
  const at = endpoint('chat');
  const tokens = { input: 100, output: 20 };
  gateway.answer(at, { text, tokens });
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
  const asked = { model: 'search-openai', web_search_options: {} };
  for (const stream of [false, true]) {
    const reply = await gateway.ask(at, key, { ...asked, stream });
    assert.equal(reply.costMicros, tokenMicros(tokens) + 31_250, reply.text);
  }
  for (const [param, fields] of [
    ['web_search_options', { model: 'search-local' }],
    ['web_search_options', { model: 'search-local', stream: true }],
    ['n', { n: 2 }],
  ] as const) {
    const refused = await gateway.ask(at, key, { ...asked, ...fields });
    assert.deepEqual([refused.status, refused.error.param], [400, param], refused.text);
  }
});

test('on a model of another format a search that the model must use is refused by name, also with a test key, and nothing is held', async () => {
  const live = await gateway.makeKey({ mode: 'live', creditUsd: 20 });
  const sandbox = await gateway.makeKey({ account: live.account });
  for (const [wire, other, choice] of [
    [responses, 'search-anthropic', 'required'],
    [messages, 'search-openai', { type: 'any' }],
  ] as const) {
    for (const { key } of [live, sandbox]) {
      const asked = { ...wire.asks(), model: other, tool_choice: choice };
      const refused = await gateway.ask(wire, key, asked);
      assert.equal(refused.status, 400, refused.text);
      assert.match(refused.error.message, /^tools\[0\]\.type/);
    }
  }
  await gateway.assertLeft(live.account, 20_000_000);
});

type UsageRecord = {
  readonly cost_cents: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly web_searches?: number;
};

async function recordOf(key: string, requestId: string): Promise<UsageRecord> {
  const records = await gateway.usage<UsageRecord>(key, requestId);
  assert.equal(records.length, 1);
  return records[0]!;
}

async function waitForRecord(key: string): Promise<UsageRecord> {
  return until(async () => (await gateway.usage<UsageRecord>(key))[0]);
}

function frameOf(type: string, fields: object = {}): SseFrame {
  return { event: type, data: { type, ...fields } };
}
