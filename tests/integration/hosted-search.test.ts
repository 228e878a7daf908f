// Web searches that the gateway runs for models whose provider has none, on Responses: one answer,
// one hold, and a charge for all calls of the model and each search.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, beforeEach, test } from 'node:test';
import OpenAI from 'openai';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import {
  answerTurn,
  costOf,
  hostedModel,
  responseOf,
  searchMicros,
  searchPath,
  searchTurn as withoutThought,
  startHostedGateway,
  thought,
  wires,
} from '../support/hosted-gateway.ts';
import type { Json } from '../support/plain/reading.ts';
import { Random } from '../support/random.ts';
import { wav } from '../support/task-samples.ts';
import { messagesTurns } from '../support/turns-messages.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';
import type { Turn } from '../support/turn-format.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  hang,
  holdBack,
  thenHang,
} from '../support/upstream.ts';
import { columnOf } from '../support/column-of.ts';

const prices = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };
const claude = (fields: object) => hostedModel('anthropic', 'claude-sonnet-4-5', fields);
const { gateway, clock, key, account, play, recordOf, heldMicros, holdOf, lossOf, firstRecord } =
  await startHostedGateway({
    slow: claude({ timeouts: { total_ms: 60_000 } }),
    // Its hold has no room for dearer caching.
    flat: claude({
      prices: { input: 3, output: 15, cache_read: 3, cache_write: 3, cache_write_1h: 3 },
    }),
    tiers: hostedModel('local', 'm', {
      prices: { ...prices, service_tiers: { priority: { input: 6, output: 30 } } },
    }),
    hears: hostedModel('local', 'm', {
      prices: { ...prices, audio: 30 },
      supports: { thinking: true, audio: true },
      owned_by: 'openai',
    }),
    // A turn may reach its higher price.
    tiered: claude({
      prices: { ...prices, tiers: [{ above_input_tokens: 50_000, input: 6, output: 30 }] },
    }),
  });
after(() => gateway.stop());

const page = {
  title: 'Eiffel Tower',
  url: 'https://www.example.com/tower',
  description: 'It is 330 metres high',
};
beforeEach(() => {
  gateway.upstream.on(searchPath, answerJson({ web: { results: [page] } }));
});

const searchTurn = (...queries: string[]): Turn => ({ ...withoutThought(...queries), thought });
const [onMessagesPath] = wires['on-messages'].paths;

const tools = [{ type: 'web_search' }];
const ask = (fields: object) =>
  gateway.postRecorded('/v1/responses', { key, body: { input: 'How high?', tools, ...fields } });

/** Reasoning aside: Gemini signs its calls with some. */
const itemsOf = (response: Json) =>
  (response['output'] as Json[]).filter(({ type }) => type !== 'reasoning');
const kindsOf = (response: Json) => itemsOf(response).map(({ type }) => type);
for (const wire of ['on-messages', 'on-chat', 'on-gemini'] as const) {
  for (const stream of [false, true]) {
    test(`a model ${wire} searches through the gateway, ${stream ? 'streamed' : 'whole'}`, async () => {
      const { format } = wires[wire];
      play(wire, searchTurn('Eiffel tower'), answerTurn);
      const { reply, asked } = await ask({ model: wire, stream });
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
      assert.match(format.readResults(second).join(), /Eiffel Tower.*330 metres high/s);
      assert.ok(calls[1]!.text.includes(format.proof(thought)), 'the thought comes back');

      assert.equal(reply.costMicros, costOf(2, 1));
      assert.equal(response['usage'].cost, costOf(2, 1) / 1e6);
      assert.deepEqual([response['usage'].input_tokens, response['usage'].output_tokens], [40, 20]);
      const record = (await recordOf(reply))!;
      assert.deepEqual(
        [record['input_tokens'], record['output_tokens'], record['web_searches']],
        [40, 20, 1],
      );
      assert.equal(await heldMicros(), 0);
    });
  }
}

test('sound is counted alike in every turn, where the host does not count it', async () => {
  play('on-chat', searchTurn('a'), answerTurn);
  const data = wav(0.99).toString('base64');
  const sound = { type: 'input_audio', input_audio: { data, format: 'wav' } };
  const { reply } = await ask({ model: 'hears', input: [{ role: 'user', content: [sound] }] });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.costMicros, costOf(2, 1) + 2 * 10 * (30 - prices.input));
});

test('the events of a stream are those of one response', async () => {
  play('on-messages', searchTurn('a', 'b'), answerTurn);
  const { reply } = await ask({ model: 'on-messages', stream: true, reasoning: { effort: 'low' } });
  const events = reply.frames.map(({ data }) => data as Json);
  assert.deepEqual(
    events.map((event) => event['sequence_number']),
    events.map((_event, index) => index),
  );
  const items = events.filter(({ type }) => type === 'response.output_item.done');
  assert.deepEqual(columnOf(items, 'output_index'), [0, 1, 2, 3, 4]);
  assert.deepEqual(columnOf(items, 'item'), responseOf(reply, true)['output']);
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
  play('on-messages', searchTurn('a'), answerTurn);
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 });
  const body = { model: 'on-messages', tools: [{ type: 'web_search' as const }] };
  const final = await client.responses.stream({ ...body, input: 'How high?' }).finalResponse();
  assert.ok(final.output_text.endsWith(answerTurn.text!));
  const said = (content: string) => ({ role: 'user', content });
  const input = [said('How high?'), ...final.output, said('Sure?')];
  const again = await client.responses.create({ ...body, input } as never);
  assert.equal(again.status, 'completed');
});

const searchWith = (fields: object) =>
  ask({ model: 'on-messages', tools: [{ type: 'web_search', ...fields }] });

test('Chat’s clients ask for a search with a tool of another format or host, too', async () => {
  for (const tool of [
    { type: 'web_search' },
    { type: 'web_search_preview', search_context_size: 'low' },
    { type: 'web_search', web_search: { enable: true } },
    { type: 'openrouter:web_search', parameters: { max_results: 3 } },
    { googleSearch: {} },
    { google_search: {} },
  ]) {
    play('on-chat', searchTurn('towers'), answerTurn);
    const own = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
    for (const listed of [[tool], [own, tool]]) {
      const body = {
        model: 'on-chat',
        tools: listed,
        messages: [{ role: 'user', content: 'How high?' }],
      };
      const { reply, asked } = await gateway.postRecorded('/v1/chat/completions', { key, body });
      assert.equal(reply.costMicros, costOf(2, 1), reply.text);
      assert.equal(reply.headers['x-service-ignored'], undefined);
      const sent = (asked[0]!.body as { tools: { function: { name: string } }[] }).tools;
      const names = listed.length > 1 ? ['f', 'web_search'] : ['web_search'];
      assert.deepEqual(columnOf(columnOf(sent, 'function'), 'name'), names);
      play('on-chat', searchTurn('towers'), answerTurn);
    }
    const several = {
      model: 'on-chat',
      n: 2,
      tools: [tool],
      messages: [{ role: 'user', content: 'Hi' }],
    };
    play('on-chat', answerTurn);
    const left = await gateway.post('/v1/chat/completions', { key, body: several });
    assert.equal(left.headers['x-service-ignored'], 'tools[0]');
  }
});

test('a choice of tools counts for the search that a Chat client lists', async () => {
  const listed = [{ type: 'openrouter:web_search' }];
  const send = (choice: unknown) => {
    const body = { model: 'on-messages', tools: listed, tool_choice: choice };
    const messages = [{ role: 'user', content: 'How high?' }];
    const path = '/v1/chat/completions';
    return gateway.postRecorded(path, { key, body: { ...body, messages } });
  };
  for (const [choice, sent] of [
    ['required', 'any'],
    [{ type: 'web_search' }, 'tool'],
  ]) {
    play('on-messages', searchTurn('a'), answerTurn);
    const { reply, asked } = await send(choice);
    assert.equal(reply.costMicros, costOf(2, 1), reply.text);
    const [first] = asked.filter(({ path }) => path === onMessagesPath);
    assert.equal((first!.body as Json)['tool_choice']?.type, sent);
  }
  play('on-messages', answerTurn);
  const { reply, asked } = await send('none');
  assert.equal(reply.headers['x-service-ignored'], 'tools[0]');
  assert.equal((asked[0]!.body as Json)['tools'], undefined);
});

test('the domains of a filter limit what is searched and found', async () => {
  const urls = ['https://www.example.com/a', 'https://example.org/b', 'https://notexample.com/c'];
  const results = urls.map((url) => ({ ...page, url }));
  gateway.upstream.on(searchPath, answerJson({ web: { results } }));
  const foundWith = async (filters: unknown) => {
    play('on-messages', searchTurn('q'), answerTurn);
    const { reply, asked } = await searchWith({ filters });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.costMicros, costOf(2, 1));
    assert.equal(reply.headers['x-service-ignored'], undefined);
    const search = asked.find(({ path }) => path === searchPath)!;
    const read = messagesTurns.readResults(asked.at(-1)!.body as Json).join();
    return [new URLSearchParams(search.query).get('q'), urls.filter((url) => read.includes(url))];
  };
  const ofExample = await foundWith({ allowed_domains: ['Example.com'] });
  assert.deepEqual(ofExample, ['q site:example.com', urls.slice(0, 1)]);
  for (const none of [null, {}, { allowed_domains: null }, { allowed_domains: [] }])
    assert.deepEqual(await foundWith(none), ['q', urls]);
  const wrong = await searchWith({ filters: { allowed_domains: ['https://a.b'] } });
  assert.deepEqual([wrong.reply.status, wrong.asked.length], [400, 0], wrong.reply.text);
  assert.equal(wrong.reply.error.param, 'tools[0].filters.allowed_domains[0]');
});

test('a search that may not leave OpenAI, or that is filtered by other things, is left out and listed', async () => {
  play('on-messages', answerTurn);
  for (const field of [
    { external_web_access: false },
    { filters: { type: 'eq', key: 'a', value: 'b' } },
  ]) {
    const { reply, asked } = await searchWith(field);
    assert.deepEqual([reply.status, reply.headers['x-service-ignored']], [200, 'tools[0]']);
    assert.deepEqual(
      [asked.length, (asked[0]!.body as Json)['tools'], reply.costMicros],
      [1, undefined, costOf(1, 0)],
    );
  }
});

for (const stream of [false, true]) {
  test(`a model that only searches comes to its end, ${stream ? 'streamed' : 'whole'}`, async () => {
    play('on-messages', searchTurn('again', 'and again'));
    const { reply, asked } = await ask({ model: 'on-messages', stream, max_tool_calls: 3 });
    const response = responseOf(reply, stream);
    const searches = asked.filter(({ path }) => path === searchPath).length;
    assert.deepEqual([searches, asked.length - searches], [3, 4]);
    assert.equal(response['status'], 'completed');
    assert.equal(reply.costMicros, costOf(4, 3));
    assert.ok((await holdOf(reply)) >= costOf(4, 3));
  });

  test(`a turn that also calls the client’s functions ends with those, ${stream ? 'streamed' : 'whole'}`, async () => {
    const own = { id: 'call_own', name: 'f', arguments: { x: 1 } };
    play('on-messages', { ...searchTurn('a'), calls: [...searchTurn('a').calls, own] });
    const f = { type: 'function', name: 'f', parameters: { type: 'object' } };
    const { reply, asked } = await ask({ model: 'on-messages', stream, tools: [...tools, f] });
    assert.deepEqual(kindsOf(responseOf(reply, stream)), ['message', 'function_call']);
    assert.deepEqual([asked.length, reply.costMicros], [1, costOf(1, 0)]);
  });

  test(`a failed search is told to the model and not charged, ${stream ? 'streamed' : 'whole'}`, async () => {
    gateway.upstream.on(searchPath, answerStatus(500));
    play('on-messages', searchTurn('a'), answerTurn);
    const { reply, asked } = await ask({ model: 'on-messages', stream });
    const response = responseOf(reply, stream);
    assert.equal(itemsOf(response)[1]!['status'], 'failed');
    assert.match(messagesTurns.readResults(asked.at(-1)!.body as Json).join(), /search failed/);
    assert.equal(reply.costMicros, costOf(2, 0));
  });

  test(`when the call after a search fails, nothing is charged and nothing stays held, ${stream ? 'streamed' : 'whole'}`, async () => {
    play('on-messages', searchTurn('a'), answerStatus(500));
    const { reply } = await ask({ model: 'on-messages', stream });
    if (stream) assert.equal(reply.frames.at(-1)!.event, 'response.failed');
    else assert.equal(reply.status, 502);
    assert.deepEqual([await recordOf(reply), await heldMicros()], [undefined, 0]);
    const loss = await lossOf(reply);
    // A broken stream reports no usage, so its output is estimated.
    if (stream) assert.ok(loss >= costOf(1, 1) && loss < 2 * costOf(1, 1), String(loss));
    else assert.equal(loss, costOf(1, 1));
  });
}

test('a search that the client demands is made once, then the model is free', async () => {
  for (const choice of ['required', { type: 'web_search' }]) {
    play('on-messages', searchTurn('a'), answerTurn);
    const { reply, asked } = await ask({ model: 'on-messages', tool_choice: choice });
    const choices = asked
      .filter(({ path }) => path === onMessagesPath)
      .map(({ body }) => (body as Json)['tool_choice']?.type);
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(choices, [choice === 'required' ? 'any' : 'tool', 'auto']);
  }
});

function findPages(titleLength: number, words: number): void {
  const results = Array.from({ length: 10 }, (_page, index) => ({
    title: 'T'.repeat(titleLength),
    url: `https://www.example.com/${index}`,
    description: '7 1 9 3 '.repeat(words),
  }));
  gateway.upstream.on(searchPath, answerJson({ web: { results } }));
}

test('the hold covers the longest turns, with all results and all output read again', async () => {
  findPages(400, 400);
  let turns = 0;
  const limits: number[] = [];
  gateway.upstream.on(onMessagesPath, (response, request) => {
    const body = request.body as { readonly max_tokens: number };
    const usage = {
      input_tokens: estimateInputTokens(request.body).upper,
      output_tokens: Math.min(body.max_tokens, turns === 0 ? 7_000 : 150),
    };
    turns++;
    limits.push(body.max_tokens);
    const text = '7 '.repeat(usage.output_tokens);
    const whole = messagesTurns.whole({ ...searchTurn(`q${turns}`), text });
    return answerJson({ ...whole, usage })(response, request);
  });
  const { reply } = await ask({ model: 'flat', max_output_tokens: 8_000, max_tool_calls: 5 });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(limits, [8_000, 1_000, 850, 700, 550, 400]);
  assert.ok(reply.costMicros! > 0 && reply.costMicros! <= (await holdOf(reply)));
  const { input_tokens: input, output_tokens: output } = (await recordOf(reply))!;
  assert.equal(reply.costMicros, input * 3 + output * 15 + 5 * searchMicros, 'not cut to the hold');
});

test('the hold covers any number of searches in each turn, and a model that goes on calling', async () => {
  const random = new Random('searches-in-turns');
  await gateway.creditAccount(account, 500);
  for (let episode = 0; episode < scaled(30, 300); episode++) {
    findPages(1, random.pick([10, 400]));
    const most = 1 + random.below(6);
    const eager = random.chance(0.5);
    gateway.upstream.on(onMessagesPath, (response, request) => {
      const calls = eager ? most : random.below(7);
      const queries = Array.from({ length: calls }, (_query, index) =>
        random.chance(0.2) ? '' : `q${index}`,
      );
      const usage = {
        input_tokens: estimateInputTokens(request.body).upper,
        output_tokens: 20 * (1 + calls),
      };
      const turn = { ...searchTurn(...queries), text: 'x' };
      return answerJson({ ...messagesTurns.whole(turn), usage })(response, request);
    });
    const { reply } = await ask({ model: 'flat', max_output_tokens: 1_000, max_tool_calls: most });
    assert.equal(reply.status, 200, reply.text);
    const hold = await holdOf(reply);
    const record = (await recordOf(reply))!;
    const { input_tokens: input, output_tokens: output, web_searches: searches } = record;
    const cost = input * 3 + output * 15 + (searches ?? 0) * searchMicros;
    const where = JSON.stringify({ episode, most, eager, input, output, searches, hold });
    assert.ok(cost <= hold, `${cost} ${where}`);
    assert.equal(reply.costMicros, cost, where);
  }
});

test('a dearer service tier that the provider takes in a turn is a loss, as without a search', async () => {
  gateway.upstream.on(wires['on-chat'].paths[0], (response, request) => {
    const { messages } = request.body as { readonly messages: readonly { role: string }[] };
    const turn = messages.at(-1)!.role === 'tool' ? answerTurn : searchTurn('q');
    return answerJson({ ...wires['on-chat'].format.whole(turn), service_tier: 'priority' })(
      response,
      request,
    );
  });
  const { reply } = await ask({ model: 'tiers' });
  assert.equal(reply.costMicros, costOf(2, 1));
  await until(async () => (await lossOf(reply)) > 0);
  assert.equal(await lossOf(reply), costOf(2, 0));
});

test('all calls together have the time of one answer', async () => {
  const first = holdBack(answerJson(messagesTurns.whole(searchTurn('a'))));
  gateway.upstream.on(onMessagesPath, first.script, hang);
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
  const type = 'content_block_delta';
  const more = framesText([{ event: type, data: { type, index: 0, delta } }]);
  const started = thenHang(framesText(messagesTurns.frames(answerTurn).slice(0, 4)));
  const first = answerSse(messagesTurns.frames(searchTurn('a')));
  gateway.upstream.on(onMessagesPath, first, (answer, request) => {
    writing = answer;
    return started(answer, request);
  });
  const own = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const body = { model: 'on-messages', input: 'How high?', tools, stream: true };
  const { request, response } = gateway.open('/v1/responses', { key: own.key, body });
  let text = '';
  for await (const piece of await response) {
    text += String(piece);
    if (text.includes('"delta":"It ')) break;
  }
  request.destroy();
  const record = await firstRecord(own.key, () => writing?.write(more));
  assert.equal(record['web_searches'], 1);
  assert.ok(record['input_tokens'] >= 40 && record['output_tokens'] > 10, JSON.stringify(record));
  assert.equal((await gateway.balance(own.account)).heldMicros, 0);
});

test('no search is made where its turns could fall into two price tiers', async () => {
  play('on-messages', answerTurn);
  const { reply } = await ask({ model: 'tiered' });
  assert.deepEqual([reply.status, reply.headers['x-service-ignored']], [200, 'tools[0]']);
});

test('a repeat with the same Idempotency-Key makes no second search', async () => {
  play('on-messages', searchTurn('a'), answerTurn);
  const body = { model: 'on-messages', input: 'How high?', tools, stream: true };
  const headers = { 'idempotency-key': 'once' };
  const send = () => gateway.post('/v1/responses', { key, headers, body });
  const first = await send();
  const earlier = gateway.upstream.requests.length;
  const again = await send();
  assert.deepEqual([again.costMicros ?? 0, gateway.upstream.requests.length], [0, earlier]);
  assert.deepEqual(kindsOf(responseOf(again, true)), kindsOf(responseOf(first, true)));
});

test('a test key searches in the sandbox', async () => {
  const own = await gateway.makeKey();
  const input = 'Hi\nsandbox: tool=web_search {"query":"cats"}';
  const body = { model: 'claude-haiku-4-5', input, tools };
  const reply = await gateway.post('/v1/responses', { key: own.key, body });
  assert.deepEqual(kindsOf(responseOf(reply, false)), ['web_search_call', 'message']);
  const [record] = await gateway.usage<Json>(own.key);
  assert.equal(record!['web_searches'], 1);
});
