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
import { answerJson, framesText, type Script, thenHang, thenReset } from '../support/upstream.ts';

const { gateway, clock, key, play, recordOf, heldMicros } = await startHostedGateway({
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

test('options without effect are listed, and a choice of none searches nothing', async () => {
  play('on-chat', answerTurn);
  const location = { type: 'approximate', country: 'FR' };
  const tools = [{ ...tool, user_location: location, defer_loading: true }];
  const { reply } = await ask({ model: 'on-chat', tools });
  assert.equal(reply.headers['x-service-ignored'], 'tools[0].defer_loading');
  const none = await ask({ model: 'on-chat', tools, tool_choice: { type: 'none' } });
  assert.equal(none.reply.headers['x-service-ignored'], 'tools[0]');
});
