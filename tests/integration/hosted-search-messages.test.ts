// Web searches that the gateway runs for a Messages client, as Claude Code asks for them: Anthropic's
// blocks on every model, one hold, and a charge for all calls of the model and each search.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, beforeEach, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import {
  answerTurn,
  costOf,
  hostedModel,
  searchPath,
  searchTurn as withoutThought,
  startHostedGateway,
  thought,
  type Wire,
  wires,
} from '../support/hosted-gateway.ts';
import type { Reply } from '../support/http.ts';
import type { Json } from '../support/plain/reading.ts';
import { checkStream } from '../support/stream-rules.ts';
import { flushEventLoop } from '../support/test-clock.ts';
import { chatTurns } from '../support/turns-chat.ts';
import { until } from '../support/until.ts';
import type { Turn } from '../support/turn-format.ts';
import {
  answerJson,
  answerStatus,
  framesText,
  type Script,
  thenHang,
  thenReset,
} from '../support/upstream.ts';

/** By the wire, how a forced choice of the function looks there. */
const forced: Partial<Record<Wire, (body: Json) => boolean>> = {
  'on-responses': ({ tool_choice: choice }) => choice?.name === 'web_search',
  'on-chat': ({ tool_choice: choice }) => choice?.function?.name === 'web_search',
  'on-gemini': ({ toolConfig: config }) => config?.functionCallingConfig?.mode === 'ANY',
};
const translated = Object.keys(forced) as Wire[];

const { gateway, clock, key, account, play, recordOf, heldMicros } = await startHostedGateway({
  slow: hostedModel('local', 'slow', { timeouts: { total_ms: 60_000 } }),
});
after(() => gateway.stop());

const tower = { title: 'Eiffel Tower', description: 'It is 330 metres high' };
const page = (url: string) => ({ ...tower, url });
const address = 'https://www.example.com/tower';
beforeEach(() => {
  gateway.upstream.on(searchPath, answerJson({ web: { results: [page(address)] } }));
});

const searchTurn = (...queries: string[]): Turn => ({ ...withoutThought(...queries), thought });

const tool = { type: 'web_search_20250305', name: 'web_search' };
const question = { role: 'user', content: 'How high?' };
const common = {
  max_tokens: 1_000,
  messages: [question],
  tools: [{ ...tool, max_uses: 8 }],
  thinking: { type: 'disabled' },
};
const ask = (fields: object) =>
  gateway.postRecorded('/v1/messages', { key, body: { ...common, ...fields } });

/** Returns the message of a whole answer, or what the SDK makes of a stream. */
async function messageOf(reply: Reply, stream: boolean): Promise<Json> {
  assert.equal(reply.status, 200, reply.text);
  if (!stream) return reply.json<Json>();
  assert.equal(checkStream('messages', reply.text).ending, 'success');
  return sdkReads(reply.text);
}

/** Plays the stream to Anthropic's SDK, which joins its events. */
async function sdkReads(text: string): Promise<Json> {
  const client = new Anthropic({
    apiKey: 'none',
    maxRetries: 0,
    fetch: async () =>
      new Response(text, { status: 200, headers: { 'content-type': 'text/event-stream' } }),
  });
  const stream = client.messages.stream({ model: 'm', max_tokens: 1, messages: [] });
  return stream.finalMessage();
}

/** Thinking aside: Gemini signs its calls with some. */
const blocksOf = (message: Json) =>
  (message['content'] as Json[]).filter(({ type }) => !String(type).includes('thinking'));
const kindsOf = (message: Json) => blocksOf(message).map(({ type }) => type);
const kindsOfSearch = ['text', 'server_tool_use', 'web_search_tool_result', 'text'];
for (const wire of translated)
  for (const stream of [false, true])
    for (const isForced of [false, true])
      test(`a model ${wire} searches, ${stream ? 'streamed' : 'whole'}, ${isForced ? 'forced' : 'free'}`, async () => {
        play(wire, searchTurn('Eiffel tower'), answerTurn);
        const { format } = wires[wire];
        const { postedMicros } = await gateway.balance(account);
        const choice = isForced && { tool_choice: { type: 'tool', name: 'web_search' } };
        const { reply, asked } = await ask({ model: wire, stream, ...choice });
        const message = await messageOf(reply, stream);
        assert.deepEqual(kindsOf(message), kindsOfSearch);
        const [, use, result, text] = blocksOf(message);
        assert.deepEqual([use!['name'], use!['input']], ['web_search', { query: 'Eiffel tower' }]);
        assert.equal(result!['tool_use_id'], use!['id']);
        const [found] = result!['content'];
        assert.deepEqual(
          [found.type, found.url, found.title, found.page_age],
          ['web_search_result', address, 'Eiffel Tower', null],
        );
        assert.ok(found.encrypted_content);
        assert.equal(text!['text'], answerTurn.text);
        assert.equal(message['stop_reason'], 'end_turn');
        assert.equal(message['usage'].server_tool_use.web_search_requests, 1);
        assert.deepEqual([message['usage'].input_tokens, message['usage'].output_tokens], [40, 20]);

        const calls = asked.filter(({ path }) => path !== searchPath);
        assert.deepEqual([calls.length, asked.length], [2, 3]);
        assert.deepEqual(format.toolNames(calls[0]!.body as Json), ['web_search']);
        assert.deepEqual(
          calls.map(({ body }) => forced[wire]!(body as Json)),
          [isForced, false],
        );
        const second = calls[1]!.body as Json;
        assert.match(format.readResults(second).join(), /Eiffel Tower.*330 metres high/s);
        assert.ok(calls[1]!.text.includes(format.proof(thought)), 'the thought comes back');

        assert.equal(reply.headers['x-service-ignored'], undefined);
        assert.equal(reply.costMicros, costOf(2, 1));
        const balance = await gateway.balance(account);
        assert.equal(postedMicros - balance.postedMicros, costOf(2, 1));
        const record = (await recordOf(reply))!;
        assert.deepEqual(
          [record['input_tokens'], record['output_tokens'], record['web_searches']],
          [40, 20, 1],
        );
        assert.equal(balance.heldMicros, 0);
      });

test('the events of a stream come as Anthropic’s', async () => {
  play('on-chat', { ...searchTurn('a', 'b'), thought: null }, answerTurn);
  const { reply } = await ask({ model: 'on-chat', stream: true });
  const events = reply.frames.map(({ data }) => data as Json);
  const order = events
    .filter(({ type, delta }) => type !== 'content_block_delta' || delta.type !== 'text_delta')
    .map(({ type, content_block: block, delta, index }) =>
      [type, index, block?.type ?? delta?.type].filter((part) => part !== undefined).join(' '),
    );
  const search = (index: number) => [
    `content_block_start ${index} server_tool_use`,
    `content_block_delta ${index} input_json_delta`,
    `content_block_stop ${index}`,
    `content_block_start ${index + 1} web_search_tool_result`,
    `content_block_stop ${index + 1}`,
  ];
  assert.deepEqual(order, [
    'message_start',
    'content_block_start 0 text',
    'content_block_stop 0',
    ...search(1),
    ...search(3),
    'content_block_start 5 text',
    'content_block_stop 5',
    'message_delta',
    'message_stop',
  ]);
  assert.equal(reply.costMicros, costOf(2, 2), 'each search is charged');
});

test('Anthropic’s SDK reads the answer, and its blocks can be sent back to every model', async () => {
  const client = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 });
  const body = {
    max_tokens: 1_000,
    tools: [tool as Anthropic.WebSearchTool20250305],
    messages: [question as Anthropic.MessageParam],
  };
  play('on-chat', searchTurn('a'), answerTurn);
  const final = await client.messages.stream({ ...body, model: 'on-chat' }).finalMessage();
  assert.equal(final.usage.server_tool_use?.web_search_requests, 1);
  for (const wire of Object.keys(wires) as Wire[]) {
    play(wire, answerTurn);
    const earlier = gateway.upstream.requests.length;
    const said = { role: 'assistant', content: final.content } as Anthropic.MessageParam;
    const messages = [...body.messages, said, { role: 'user' as const, content: 'Sure?' }];
    await client.messages.create({ ...body, model: wire, messages });
    const { text } = gateway.upstream.requests[earlier]!;
    assert.match(text, /I searched the web for: a/, wire);
    assert.match(text, /example\.com\/tower\\n+It is 330 metres high/, wire);
    assert.doesNotMatch(text, /server_tool_use|web_search_tool_result|web_search_result/, wire);
  }
});

test('blocks of Anthropic’s own search are read without what it encrypted', async () => {
  play('on-chat', answerTurn);
  const old = { url: address, title: 'Tower', page_age: '2 days' };
  const found = { type: 'web_search_result', ...old, encrypted_content: 'U2VjcmV0' };
  const [id, input] = ['srvtoolu_01', { query: 'q' }];
  const use = { type: 'server_tool_use', id, name: 'web_search', input };
  const result = { type: 'web_search_tool_result', tool_use_id: id, content: [found] };
  const messages = [question, { role: 'assistant', content: [use, result] }, question];
  const { reply, asked } = await ask({ model: 'on-chat', messages, tools: [] });
  assert.equal(reply.status, 200, reply.text);
  assert.match(asked[0]!.text, /Tower\\nhttps:\/\/www\.example\.com\/tower\\n2 days/);
  assert.doesNotMatch(asked[0]!.text, /Secret|U2VjcmV0/);
});

test('odd search blocks of a client are read or refused, never a failure of ours', async () => {
  const odd = { toString: 1, valueOf: 1 };
  const id = 'srvtoolu_tg1_1';
  const blocks: object[] = [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: odd } },
    { type: 'server_tool_use', id: odd, name: 'web_search', input: odd },
    { type: 'web_search_tool_result', tool_use_id: odd, content: odd },
    { type: 'web_search_tool_result', tool_use_id: id, content: [{ encrypted_content: odd }, 5] },
    { type: 'web_search_tool_result', tool_use_id: id, content: [{ title: odd, url: odd }] },
    { type: 'tool_use', id, name: 'f', input: {} },
  ];
  play('on-chat', answerTurn);
  play('on-messages', answerTurn);
  for (const block of blocks)
    for (const name of ['on-chat', 'on-messages']) {
      const messages = [question, { role: 'assistant', content: [block] }, question];
      const { reply } = await ask({ model: name, messages, tools: [] });
      const where = `${name} ${JSON.stringify(block)} ${reply.text}`;
      assert.ok([200, 400].includes(reply.status), where);
    }
});

for (const stream of [false, true]) {
  const kind = stream ? 'streamed' : 'whole';

  test(`a failed search is an error block, told to the model and not charged, ${kind}`, async () => {
    gateway.upstream.on(searchPath, answerStatus(500));
    play('on-chat', searchTurn('a'), answerTurn);
    const { reply, asked } = await ask({ model: 'on-chat', stream });
    const message = await messageOf(reply, stream);
    assert.deepEqual(blocksOf(message)[2]!['content'], {
      type: 'web_search_tool_result_error',
      error_code: 'unavailable',
    });
    assert.match(chatTurns.readResults(asked.at(-1)!.body as Json).join(), /search failed/);
    assert.equal(message['usage'].server_tool_use.web_search_requests, 0);
    assert.equal(reply.costMicros, costOf(2, 0));
  });

  test(`max_uses ends the searches, and the answer ends without a call, ${kind}`, async () => {
    play('on-chat', searchTurn('again', 'and again'));
    const tools = [{ ...tool, max_uses: 3 }];
    const { reply, asked } = await ask({ model: 'on-chat', stream, tools });
    const message = await messageOf(reply, stream);
    const searches = asked.filter(({ path }) => path === searchPath).length;
    assert.deepEqual([searches, asked.length - searches], [3, 4]);
    assert.equal(message['stop_reason'], 'end_turn');
    assert.ok(!kindsOf(message).includes('tool_use'));
    const errors = blocksOf(message).flatMap(({ content }) => content?.error_code ?? []);
    assert.deepEqual(errors, ['max_uses_exceeded', 'max_uses_exceeded', 'max_uses_exceeded']);
    assert.equal(reply.costMicros, costOf(4, 3));
  });

  test(`a turn that also calls the client’s functions ends with those, ${kind}`, async () => {
    const own = { id: 'call_own', name: 'f', arguments: { x: 1 } };
    play('on-chat', { ...searchTurn('a'), calls: [...searchTurn('a').calls, own] });
    const tools = [tool, { name: 'f', input_schema: { type: 'object' } }];
    const { reply, asked } = await ask({ model: 'on-chat', stream, tools });
    const message = await messageOf(reply, stream);
    assert.deepEqual(kindsOf(message), ['text', 'tool_use']);
    assert.deepEqual(blocksOf(message)[1]!['input'], { x: 1 });
    assert.equal(message['stop_reason'], 'tool_use');
    assert.deepEqual([asked.length, reply.costMicros], [1, costOf(1, 0)]);
  });

  test(`a stop sequence ends the answer, whatever the model has called, ${kind}`, async () => {
    play('on-responses', { ...searchTurn('a'), text: 'One END more' }, answerTurn);
    const { reply, asked } = await ask({ model: 'on-responses', stream, stop_sequences: ['END'] });
    const message = await messageOf(reply, stream);
    assert.deepEqual(kindsOf(message), ['text']);
    assert.deepEqual(
      [blocksOf(message)[0]!['text'], message['stop_reason'], message['stop_sequence']],
      ['One ', 'stop_sequence', 'END'],
    );
    assert.deepEqual([asked.length, reply.costMicros], [1, costOf(1, 0)]);
  });
}

test('a stream that is cut in a later turn ends in an error, and is free', async () => {
  const cut = framesText(chatTurns.frames(answerTurn).slice(0, 3));
  play('on-chat', searchTurn('a'), thenReset(cut));
  const { reply } = await ask({ model: 'on-chat', stream: true });
  const { ending, text } = checkStream('messages', reply.text);
  assert.deepEqual([ending, text], ['error', 'One moment.It is ']);
  assert.deepEqual([await recordOf(reply), await heldMicros()], [undefined, 0]);
});

test('an answer that runs out of time in a later turn ends as at its limit, and is charged', async () => {
  let writing: ServerResponse | null = null;
  const begin = thenHang(framesText(chatTurns.frames(answerTurn).slice(0, 1)));
  const slow: Script = (response, request) => {
    writing = response;
    return begin(response, request);
  };
  play('on-chat', searchTurn('a'), slow);
  let reply: Reply | null = null;
  void ask({ model: 'slow', stream: true }).then((asked) => (reply = asked.reply));
  await until(async () => {
    writing?.write(framesText(chatTurns.frames(answerTurn).slice(1, 2)));
    await flushEventLoop();
    await clock.advance(500);
    return reply !== null;
  });
  const message = await messageOf(reply!, true);
  assert.deepEqual(kindsOf(message), kindsOfSearch);
  assert.match(blocksOf(message)[3]!['text'], /^It It It/);
  assert.equal(message['stop_reason'], 'max_tokens');
  assert.equal(message['usage'].server_tool_use.web_search_requests, 1);
  assert.ok(reply!.costMicros! > costOf(1, 1));
  assert.equal(await heldMicros(), 0);
});

test('domains limit what is searched and found', async () => {
  const others = ['example.com.evil.org/', 'other.org/blog/x', 'other.org/'];
  const urls = [address, ...others.map((other) => `https://${other}`)];
  gateway.upstream.on(searchPath, answerJson({ web: { results: urls.map(page) } }));
  const foundWith = async (fields: object) => {
    play('on-chat', searchTurn('q'), answerTurn);
    const { reply, asked } = await ask({ model: 'on-chat', tools: [{ ...tool, ...fields }] });
    const message = await messageOf(reply, false);
    const shown = (blocksOf(message)[2]!['content'] as Json[]).map(({ url }) => url as string);
    const read = chatTurns.readResults(asked.at(-1)!.body as Json).join();
    for (const url of urls) assert.equal(read.includes(`${url}\n`), shown.includes(url), url);
    const searched = asked.find(({ path }) => path === searchPath)!;
    return [new URLSearchParams(searched.query).get('q'), shown];
  };
  assert.deepEqual(await foundWith({ allowed_domains: ['example.com', 'other.org/blog'] }), [
    'q site:example.com OR site:other.org/blog',
    [urls[0], urls[2]],
  ]);
  assert.deepEqual(await foundWith({ blocked_domains: ['EXAMPLE.com'] }), ['q', urls.slice(1)]);
  assert.deepEqual(await foundWith({ allowed_domains: [] }), ['q', urls]);
});

const refused: [fields: object, param: string][] = [
  [{ allowed_domains: 'a.b' }, 'tools[0].allowed_domains'],
  [{ allowed_domains: ['a.b', 5] }, 'tools[0].allowed_domains[1]'],
  [{ allowed_domains: ['https://a.b'] }, 'tools[0].allowed_domains[0]'],
  [{ blocked_domains: ['*.b'] }, 'tools[0].blocked_domains[0]'],
  [{ blocked_domains: [''] }, 'tools[0].blocked_domains[0]'],
  [{ allowed_domains: ['a.b'], blocked_domains: ['c.d'] }, 'tools[0].blocked_domains'],
  [{ blocked_domains: Array.from({ length: 101 }, () => 'a.b') }, 'tools[0].blocked_domains'],
  [{ max_uses: 0 }, 'tools[0].max_uses'],
];
for (const [fields, param] of refused)
  test(`refused: ${JSON.stringify(fields).slice(0, 60)}`, async () => {
    const { reply, asked } = await ask({ model: 'on-chat', tools: [{ ...tool, ...fields }] });
    assert.deepEqual([reply.status, asked.length], [400, 0], reply.text);
    assert.ok(reply.json<Json>()['error'].message.startsWith(param), reply.text);
    assert.equal(await heldMicros(), 0);
  });

test('options without effect are listed, and a choice of none searches nothing', async () => {
  play('on-chat', answerTurn);
  const location = { type: 'approximate', country: 'FR' };
  const tools = [{ ...tool, user_location: location, defer_loading: true }];
  const { reply } = await ask({ model: 'on-chat', tools });
  assert.equal(reply.headers['x-service-ignored'], 'tools[0].defer_loading');
  const none = await ask({ model: 'on-chat', tools, tool_choice: { type: 'none' } });
  assert.equal(none.reply.headers['x-service-ignored'], 'tools[0]');
});
