// Web searches that the gateway runs for models whose provider has none, on Responses: one answer,
// one hold, and a charge for all calls of the model and each search.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, beforeEach, test } from 'node:test';
import OpenAI from 'openai';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import { startGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import type { Json } from '../support/plain/reading.ts';
import { flushEventLoop, TestClock } from '../support/test-clock.ts';
import { chatTurns } from '../support/turns-chat.ts';
import { geminiTurns } from '../support/turns-gemini.ts';
import { messagesTurns } from '../support/turns-messages.ts';
import { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';
import type { Turn, TurnFormat } from '../support/turn-format.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  hang,
  holdBack,
  type Script,
} from '../support/upstream.ts';

const searchPath = '/brave/web/search';
/** An operator's own price gets no markup. */
const searchMicros = 5_000;
const prices = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };

type Wire = { readonly model: string; readonly path: string; readonly format: TurnFormat };
const wires: readonly Wire[] = [
  { model: 'on-messages', path: '/v1/messages', format: messagesTurns },
  { model: 'on-chat', path: '/local/v1/chat/completions', format: chatTurns },
  { model: 'on-gemini', path: '/v1beta/models/gemini-3-flash', format: geminiTurns },
];
const [onMessages, onChat] = wires as [Wire, Wire];

const clock = new TestClock();

const model = (provider: string, id = 'm') => ({
  routes: [{ provider, model: id }],
  prices,
  context_tokens: 200_000,
  max_input_tokens: 180_000,
  max_output_tokens: 8_000,
  supports: { thinking: true, streaming: true, vision: false },
});
const gateway = await startGateway(
  (upstream) => ({
    providers: { brave: { base_url: `${upstream.url}/brave`, api_key: 'none' } },
    search: { price_usd: 0.005 },
    models: {
      'on-messages': model('anthropic', 'claude-sonnet-4-5'),
      'on-chat': model('local'),
      'on-gemini': model('google', 'gemini-3-flash'),
      slow: { ...model('anthropic', 'claude-sonnet-4-5'), timeouts: { total_ms: 60_000 } },
      // Its hold has no room for dearer caching.
      flat: {
        ...model('anthropic', 'claude-sonnet-4-5'),
        prices: { input: 3, output: 15, cache_read: 3, cache_write: 3, cache_write_1h: 3 },
      },
      tiers: {
        ...model('local'),
        prices: { ...prices, service_tiers: { priority: { input: 6, output: 30 } } },
      },
      // A turn may reach its higher price.
      tiered: {
        ...model('anthropic', 'claude-sonnet-4-5'),
        prices: { ...prices, tiers: [{ above_input_tokens: 50_000, input: 6, output: 30 }] },
      },
    },
  }),
  { clock },
);
const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 50 });
after(() => gateway.stop());

const page = {
  title: 'Eiffel Tower',
  url: 'https://www.example.com/tower',
  description: 'It is 330 metres high',
};
beforeEach(() => {
  gateway.upstream.on(searchPath, answerJson({ web: { results: [page] } }));
});

const thought = { text: 'I must look.', signature: 'c2lnbmF0dXJlIG9mIHRoZSB0aG91Z2h0' };
const searchTurn = (...queries: string[]): Turn => ({
  thought,
  text: 'One moment.',
  calls: queries.map((query, index) => ({
    id: `call_${index}`,
    name: 'web_search',
    arguments: { query },
  })),
});
const answerTurn: Turn = { thought: null, text: 'It is 330 metres high.', calls: [] };

/** Plays the turns in order; the last one repeats. */
function play({ path, format }: Wire, ...turns: Turn[]): void {
  const scripts = turns.map((turn): Script => (response, request) => {
    const isStream =
      (request.body as Json)['stream'] === true || request.path.endsWith(':streamGenerateContent');
    return (isStream ? answerSse(format.frames(turn)) : answerJson(format.whole(turn)))(
      response,
      request,
    );
  });
  for (const end of path.includes('gemini') ? [':generateContent', ':streamGenerateContent'] : [''])
    gateway.upstream.on(path + end, ...(scripts as [Script]));
}

const tools = [{ type: 'web_search' }];
const ask = (fields: object) =>
  gateway.recordUpstream(() =>
    gateway.post('/v1/responses', { key, body: { input: 'How high?', tools, ...fields } }),
  );

/** Returns the response of a whole answer, or the last one of a stream. */
function responseOf(reply: Reply, stream: boolean): Json {
  assert.equal(reply.status, 200, reply.text);
  return stream ? (reply.frames.at(-1)!.data as Json)['response'] : reply.json<Json>();
}

/** Reasoning aside: Gemini signs its calls with some. */
const itemsOf = (response: Json) =>
  (response['output'] as Json[]).filter(({ type }) => type !== 'reasoning');
const kindsOf = (response: Json) => itemsOf(response).map(({ type }) => type);
/** 20 tokens of input and 10 of output each. */
const costOf = (turns: number, searches: number) =>
  turns * (20 * 3 + 10 * 15) + searches * searchMicros;

async function recordOf(reply: Reply): Promise<Json> {
  return (await gateway.usage<Json>(key, reply.requestId))[0]!;
}

const heldMicros = async () => (await gateway.balance(account)).heldMicros;

for (const wire of wires) {
  for (const stream of [false, true]) {
    test(`a model of ${wire.model} searches through the gateway, ${stream ? 'streamed' : 'whole'}`, async () => {
      play(wire, searchTurn('Eiffel tower'), answerTurn);
      const { reply, asked } = await ask({ model: wire.model, stream });
      const response = responseOf(reply, stream);
      assert.deepEqual(kindsOf(response), ['message', 'web_search_call', 'message']);
      const [, search, message] = itemsOf(response);
      assert.deepEqual(
        [search!['status'], search!['action']],
        ['completed', { type: 'search', query: 'Eiffel tower' }],
      );
      assert.equal(message!['content'][0].text, answerTurn.text);
      assert.equal(response['status'], 'completed');

      const calls = asked.filter(({ path }) => path !== searchPath);
      assert.deepEqual([calls.length, asked.length], [2, 3]);
      const second = calls[1]!.body as Json;
      assert.match(wire.format.readResults(second).join(), /Eiffel Tower.*330 metres high/s);
      assert.ok(calls[1]!.text.includes(wire.format.proof(thought)), 'the thought comes back');

      assert.equal(reply.costMicros, costOf(2, 1));
      assert.equal(response['usage'].cost, costOf(2, 1) / 1e6);
      assert.deepEqual([response['usage'].input_tokens, response['usage'].output_tokens], [40, 20]);
      const record = await recordOf(reply);
      assert.deepEqual(
        [record['input_tokens'], record['output_tokens'], record['web_searches']],
        [40, 20, 1],
      );
      assert.equal(await heldMicros(), 0);
    });
  }
}

test('the events of a stream are those of one response', async () => {
  play(onMessages, searchTurn('a', 'b'), answerTurn);
  const { reply } = await ask({ model: 'on-messages', stream: true, reasoning: { effort: 'low' } });
  const events = reply.frames.map(({ data }) => data as Json);
  assert.deepEqual(
    events.map((event) => event['sequence_number']),
    events.map((_event, index) => index),
  );
  const items = events.filter(({ type }) => type === 'response.output_item.done');
  assert.deepEqual(
    items.map(({ output_index: index }) => index),
    [0, 1, 2, 3, 4],
  );
  assert.deepEqual(
    items.map(({ item }) => item),
    responseOf(reply, true)['output'],
  );
  assert.equal(new Set(items.map(({ item }) => item.id)).size, 5);
  const ofSearch = events.filter((event) => event['output_index'] === 2).map(({ type }) => type);
  assert.deepEqual(ofSearch, [
    'response.output_item.added',
    'response.web_search_call.in_progress',
    'response.web_search_call.searching',
    'response.web_search_call.completed',
    'response.output_item.done',
  ]);
  assert.equal(events.filter(({ type }) => type === 'response.created').length, 1);
  assert.equal(reply.costMicros, costOf(2, 2), 'each search is charged');
});

test('OpenAI’s SDK reads the stream, and its output can be sent back', async () => {
  play(onMessages, searchTurn('a'), answerTurn);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
  const body = { model: 'on-messages', tools: [{ type: 'web_search' as const }] };
  const final = await client.responses.stream({ ...body, input: 'How high?' }).finalResponse();
  assert.ok(final.output_text.endsWith(answerTurn.text!));
  const again = await client.responses.create({
    ...body,
    input: [
      { role: 'user', content: 'How high?' },
      ...final.output,
      { role: 'user', content: 'Sure?' },
    ],
  } as never);
  assert.equal(again.status, 'completed');
});

test('the domains of a filter limit what is searched and found', async () => {
  const urls = ['https://www.example.com/a', 'https://example.org/b', 'https://notexample.com/c'];
  const results = urls.map((url) => ({ ...page, url }));
  gateway.upstream.on(searchPath, answerJson({ web: { results } }));
  const foundWith = async (filters: unknown) => {
    play(onMessages, searchTurn('q'), answerTurn);
    const { reply, asked } = await ask({
      model: 'on-messages',
      tools: [{ type: 'web_search', filters }],
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.costMicros, costOf(2, 1));
    assert.equal(reply.headers['x-service-ignored'], undefined);
    const search = asked.find(({ path }) => path === searchPath)!;
    const read = messagesTurns.readResults(asked.at(-1)!.body as Json).join();
    return [new URLSearchParams(search.query).get('q'), urls.filter((url) => read.includes(url))];
  };
  assert.deepEqual(await foundWith({ allowed_domains: ['Example.com'] }), [
    'q site:example.com',
    urls.slice(0, 1),
  ]);
  for (const none of [null, {}, { allowed_domains: null }, { allowed_domains: [] }])
    assert.deepEqual(await foundWith(none), ['q', urls]);
  const wrong = await ask({
    model: 'on-messages',
    tools: [{ type: 'web_search', filters: { allowed_domains: ['https://a.b'] } }],
  });
  assert.deepEqual([wrong.reply.status, wrong.asked.length], [400, 0], wrong.reply.text);
  assert.equal(wrong.reply.error.param, 'tools[0].filters.allowed_domains[0]');
});

test('a search that may not leave OpenAI, or that is filtered by other things, is left out and listed', async () => {
  play(onMessages, answerTurn);
  for (const field of [
    { external_web_access: false },
    { filters: { type: 'eq', key: 'a', value: 'b' } },
  ]) {
    const { reply, asked } = await ask({
      model: 'on-messages',
      tools: [{ type: 'web_search', ...field }],
    });
    assert.deepEqual([reply.status, reply.headers['x-service-ignored']], [200, 'tools[0]']);
    assert.deepEqual(
      [asked.length, (asked[0]!.body as Json)['tools'], reply.costMicros],
      [1, undefined, costOf(1, 0)],
    );
  }
});

for (const stream of [false, true]) {
  test(`a model that only searches comes to its end, ${stream ? 'streamed' : 'whole'}`, async () => {
    play(onMessages, searchTurn('again', 'and again'));
    const { reply, asked } = await ask({ model: 'on-messages', stream, max_tool_calls: 3 });
    const response = responseOf(reply, stream);
    const searches = asked.filter(({ path }) => path === searchPath).length;
    assert.deepEqual([searches, asked.length - searches], [3, 4]);
    assert.equal(response['status'], 'completed');
    assert.equal(reply.costMicros, costOf(4, 3));
    const hold = await gateway.database.read
      .selectFrom('charges')
      .select('hold_micros')
      .where('id', '=', reply.requestId)
      .executeTakeFirstOrThrow();
    assert.ok(Number(hold.hold_micros) >= costOf(4, 3));
  });

  test(`a turn that also calls the client’s functions ends with those, ${stream ? 'streamed' : 'whole'}`, async () => {
    const own = { id: 'call_own', name: 'f', arguments: { x: 1 } };
    play(onMessages, { ...searchTurn('a'), calls: [...searchTurn('a').calls, own] });
    const { reply, asked } = await ask({
      model: 'on-messages',
      stream,
      tools: [...tools, { type: 'function', name: 'f', parameters: { type: 'object' } }],
    });
    const response = responseOf(reply, stream);
    assert.deepEqual(kindsOf(response), ['message', 'function_call']);
    assert.deepEqual([asked.length, reply.costMicros], [1, costOf(1, 0)]);
  });

  test(`a failed search is told to the model and not charged, ${stream ? 'streamed' : 'whole'}`, async () => {
    gateway.upstream.on(searchPath, answerStatus(500));
    play(onMessages, searchTurn('a'), answerTurn);
    const { reply, asked } = await ask({ model: 'on-messages', stream });
    const response = responseOf(reply, stream);
    assert.equal(itemsOf(response)[1]!['status'], 'failed');
    assert.match(onMessages.format.readResults(asked.at(-1)!.body as Json).join(), /search failed/);
    assert.equal(reply.costMicros, costOf(2, 0));
  });

  test(`when the call after a search fails, nothing is charged and nothing stays held, ${stream ? 'streamed' : 'whole'}`, async () => {
    play(onMessages, searchTurn('a'));
    const { format, path } = onMessages;
    gateway.upstream.on(
      path,
      stream
        ? answerSse(format.frames(searchTurn('a')))
        : answerJson(format.whole(searchTurn('a'))),
      answerStatus(500),
    );
    const { reply } = await ask({ model: 'on-messages', stream });
    if (stream) assert.equal(reply.frames.at(-1)!.event, 'response.failed');
    else assert.equal(reply.status, 502);
    assert.deepEqual([await recordOf(reply), await heldMicros()], [undefined, 0]);
    const losses = await gateway.lossesOf(reply.requestId);
    const loss = losses.reduce((sum, each) => sum + each, 0);
    // A broken stream reports no usage, so its output is estimated.
    if (stream) assert.ok(loss >= costOf(1, 1) && loss < 2 * costOf(1, 1), String(loss));
    else assert.equal(loss, costOf(1, 1));
  });
}

test('a search that the client demands is made once, then the model is free', async () => {
  for (const choice of ['required', { type: 'web_search' }]) {
    play(onMessages, searchTurn('a'), answerTurn);
    const { reply, asked } = await ask({ model: 'on-messages', tool_choice: choice });
    const choices = asked
      .filter(({ path }) => path === onMessages.path)
      .map(({ body }) => (body as Json)['tool_choice']?.type);
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(choices, [choice === 'required' ? 'any' : 'tool', 'auto']);
  }
});

test('the hold covers the longest turns, with all results and all output read again', async () => {
  const pages = Array.from({ length: 10 }, (_page, index) => ({
    title: 'T'.repeat(400),
    url: `https://www.example.com/${index}`,
    description: '7 1 9 3 '.repeat(400),
  }));
  gateway.upstream.on(searchPath, answerJson({ web: { results: pages } }));
  let turns = 0;
  const limits: number[] = [];
  gateway.upstream.on(onMessages.path, (response, request) => {
    const body = request.body as { readonly max_tokens: number };
    const usage = {
      input_tokens: estimateInputTokens(request.body).upper,
      output_tokens: Math.min(body.max_tokens, turns === 0 ? 7_000 : 150),
    };
    turns++;
    limits.push(body.max_tokens);
    const text = '7 '.repeat(usage.output_tokens);
    const whole = onMessages.format.whole({ ...searchTurn(`q${turns}`), text });
    return answerJson({ ...whole, usage })(response, request);
  });
  const { reply } = await ask({
    model: 'flat',
    max_output_tokens: 8_000,
    max_tool_calls: 5,
  });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(limits, [8_000, 1_000, 850, 700, 550, 400]);
  const charge = await gateway.database.read
    .selectFrom('charges')
    .selectAll()
    .where('id', '=', reply.requestId)
    .executeTakeFirstOrThrow();
  assert.ok(reply.costMicros! > 0 && reply.costMicros! <= Number(charge.hold_micros));
  const { input_tokens: input, output_tokens: output } = await recordOf(reply);
  assert.equal(reply.costMicros, input * 3 + output * 15 + 5 * searchMicros, 'not cut to the hold');
});

test('the hold covers any number of searches in each turn, and a model that goes on calling', async () => {
  const random = new Random('searches-in-turns');
  await gateway.creditAccount(account, 500);
  for (let episode = 0; episode < scaled(30, 300); episode++) {
    const pages = Array.from({ length: 10 }, (_page, index) => ({
      title: 'T',
      url: `https://www.example.com/${index}`,
      description: '7 1 9 3 '.repeat(random.pick([10, 400])),
    }));
    gateway.upstream.on(searchPath, answerJson({ web: { results: pages } }));
    const most = 1 + random.below(6);
    const eager = random.chance(0.5);
    gateway.upstream.on(onMessages.path, (response, request) => {
      const calls = eager ? most : random.below(7);
      const queries = Array.from({ length: calls }, (_query, index) =>
        random.chance(0.2) ? '' : `q${index}`,
      );
      const usage = {
        input_tokens: estimateInputTokens(request.body).upper,
        output_tokens: 20 * (1 + calls),
      };
      const turn = { ...searchTurn(...queries), text: 'x' };
      return answerJson({ ...onMessages.format.whole(turn), usage })(response, request);
    });
    const { reply } = await ask({ model: 'flat', max_output_tokens: 1_000, max_tool_calls: most });
    assert.equal(reply.status, 200, reply.text);
    const { hold_micros: hold } = await gateway.database.read
      .selectFrom('charges')
      .select('hold_micros')
      .where('id', '=', reply.requestId)
      .executeTakeFirstOrThrow();
    const {
      input_tokens: input,
      output_tokens: output,
      web_searches: searches,
    } = await recordOf(reply);
    const cost = input * 3 + output * 15 + (searches ?? 0) * searchMicros;
    const where = JSON.stringify({ episode, most, eager, input, output, searches, hold });
    assert.ok(cost <= Number(hold), `${cost} ${where}`);
    assert.equal(reply.costMicros, cost, where);
  }
});

test('a dearer service tier that the provider takes in a turn is a loss, as without a search', async () => {
  gateway.upstream.on(onChat.path, (response, request) => {
    const { messages } = request.body as { readonly messages: readonly { role: string }[] };
    const turn = messages.at(-1)!.role === 'tool' ? answerTurn : searchTurn('q');
    return answerJson({ ...onChat.format.whole(turn), service_tier: 'priority' })(
      response,
      request,
    );
  });
  const { reply } = await ask({ model: 'tiers' });
  assert.equal(reply.costMicros, costOf(2, 1));
  await until(async () => (await gateway.lossesOf(reply.requestId)).length > 0);
  assert.deepEqual(await gateway.lossesOf(reply.requestId), [costOf(2, 0)]);
});

test('all calls together have the time of one answer', async () => {
  const first = holdBack(answerJson(onMessages.format.whole(searchTurn('a'))));
  gateway.upstream.on(onMessages.path, first.script, hang);
  const earlier = gateway.upstream.requests.length;
  const asking = ask({ model: 'slow' });
  await gateway.upstream.request(earlier);
  await clock.advance(40_000);
  first.release();
  await gateway.upstream.request(earlier + 2);
  await until(() => clock.dueIn(20_000) > 0);
  await clock.advance(20_000);
  assert.equal((await asking).reply.status, 504);
});

test('a client that leaves during a later turn pays for the turns and searches so far', async () => {
  let writing: ServerResponse | null = null;
  const delta = { type: 'text_delta', text: ' and more' };
  const more = {
    event: 'content_block_delta',
    data: { type: 'content_block_delta', index: 0, delta },
  };
  const started = framesText(onMessages.format.frames(answerTurn).slice(0, 4));
  gateway.upstream.on(
    onMessages.path,
    answerSse(onMessages.format.frames(searchTurn('a'))),
    (answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' });
      answer.write(started);
      writing = answer;
    },
  );
  const own = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const { request, response } = gateway.open('/v1/responses', {
    key: own.key,
    body: { model: 'on-messages', input: 'How high?', tools, stream: true },
  });
  let text = '';
  for await (const piece of await response) {
    text += String(piece);
    if (text.includes('"delta":"It ')) break;
  }
  request.destroy();
  let records: Json[] = [];
  await until(async () => {
    writing?.write(framesText([more]));
    await flushEventLoop();
    await clock.advance(500);
    records = await gateway.usage<Json>(own.key);
    return records.length > 0;
  });
  const [record] = records;
  assert.equal(record!['web_searches'], 1);
  assert.ok(record!['input_tokens'] >= 40 && record!['output_tokens'] > 10, JSON.stringify(record));
  assert.equal((await gateway.balance(own.account)).heldMicros, 0);
});

test('no search is made where its turns could fall into two price tiers', async () => {
  play(onMessages, answerTurn);
  const { reply } = await ask({ model: 'tiered' });
  assert.deepEqual([reply.status, reply.headers['x-service-ignored']], [200, 'tools[0]']);
});

test('a repeat with the same Idempotency-Key makes no second search', async () => {
  play(onMessages, searchTurn('a'), answerTurn);
  const send = () =>
    gateway.post('/v1/responses', {
      key,
      headers: { 'idempotency-key': 'once' },
      body: { model: 'on-messages', input: 'How high?', tools, stream: true },
    });
  const first = await send();
  const earlier = gateway.upstream.requests.length;
  const again = await send();
  assert.deepEqual([again.costMicros ?? 0, gateway.upstream.requests.length], [0, earlier]);
  assert.deepEqual(kindsOf(responseOf(again, true)), kindsOf(responseOf(first, true)));
});

test('a test key searches in the sandbox', async () => {
  const own = await gateway.makeKey();
  const body = {
    model: 'claude-haiku-4-5',
    input: 'Hi\nsandbox: tool=web_search {"query":"cats"}',
    tools,
  };
  const reply = await gateway.post('/v1/responses', { key: own.key, body });
  assert.deepEqual(kindsOf(responseOf(reply, false)), ['web_search_call', 'message']);
  const [record] = await gateway.usage<Json>(own.key);
  assert.equal(record!['web_searches'], 1);
});
