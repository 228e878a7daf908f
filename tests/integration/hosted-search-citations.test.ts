// Web searches that the gateway runs, for each client's format on each provider's, also its own: what
// the client asks for, the pages that the answer cites, and what is charged.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { microsFromUsd } from '../../src/lib/money.ts';
import {
  costOf,
  hostedModel,
  searchMicros,
  searchPath,
  searchTurn as turnOf,
  startHostedGateway,
  wires,
} from '../support/hosted-gateway.ts';
import type { Reply } from '../support/http.ts';
import type { Json } from '../support/plain/reading.ts';
import { checkStream } from '../support/stream-rules.ts';
import type { Turn } from '../support/turn-format.ts';
import { chatTurns } from '../support/turns-chat.ts';
import { answerJson, answerStatus } from '../support/upstream.ts';

const local = { provider: 'local', model: 'm' };
/** Its own searches are not sold. */
const unsold = { tool_prices: { web_search: null, web_search_preview: null } };
const { gateway, key, account, play, recordOf, heldMicros, holdOf } = await startHostedGateway({
  'on-messages': hostedModel('anthropic', 'claude-sonnet-4-5', unsold),
  'on-responses': hostedModel('openai', 'gpt-5', unsold),
  'sold-elsewhere': hostedModel('openai', 'gpt-5'),
  'no-functions-in-chat': hostedModel('openai', 'gpt-5.5'),
  'gpt-5-search-api': hostedModel('openai', 'gpt-5-search-api'),
  both: hostedModel('openai', 'gpt-5-search-api', {
    routes: [
      { provider: 'openai', model: 'gpt-5-search-api' },
      { ...local, rank: 2 },
    ],
  }),
  'without-tools': hostedModel('local', 'm', { routes: [{ ...local, lacks: ['tools'] }] }),
});
after(() => gateway.stop());

const pages = Array.from({ length: 10 }, (_page, index) => ({
  title: `Page ${index + 1}`,
  url: `https://www.example.com/${index + 1}`,
  // What a page says of numbers means nothing.
  description: `Text ${index + 1} [3] [99]`,
}));
beforeEach(() => {
  gateway.upstream.on(searchPath, answerJson({ web: { results: pages } }));
});

const searchTurn = (...queries: string[]): Turn => ({ ...turnOf(...queries), text: 'See [1].' });
const answerTurn: Turn = {
  thought: null,
  text: '🗼 It is list[1] [2], 高い[11, 4] and [77]. 👩‍👩‍👧 [3]',
  calls: [],
};
const cited = ['2', '11', '4', '3'];

type Cited = { readonly url: string; readonly marked: string | null };
type Client = {
  readonly path: (model: string, stream: boolean) => string;
  readonly body: object;
  /** A search near Paris that wants few pages; Messages cannot say how many. Left out: it has no words for either. */
  readonly near?: object;
  readonly fewPages: boolean;
  readonly answerOf: (reply: Reply, stream: boolean) => Promise<Json>;
  /** The pages cited in the last text, and the words that a citation covers. */
  readonly citedIn: (answer: Json) => readonly Cited[];
};

const reads = (text: string) => async () =>
  new Response(text, { status: 200, headers: { 'content-type': 'text/event-stream' } });
const place = { city: 'Paris', country: 'FR' };
const approximate = { type: 'approximate', approximate: place };
const clients: Readonly<Record<'responses' | 'chat' | 'messages' | 'gemini', Client>> = {
  responses: {
    path: () => '/v1/responses',
    body: { input: 'How high?', tools: [{ type: 'web_search' }] },
    near: { tools: [{ type: 'web_search', search_context_size: 'low', user_location: place }] },
    fewPages: true,
    answerOf: async (reply, stream) => {
      if (!stream) return reply.json<Json>();
      const sdk = new OpenAI({ apiKey: 'none', maxRetries: 0, fetch: reads(reply.text) });
      return sdk.responses.stream({ model: 'm', input: 'x' }).finalResponse();
    },
    citedIn: ({ output }) => {
      const { text, annotations } = output.at(-1).content.at(-1);
      return annotations.map(({ url, start_index: start, end_index: end }: Json) => ({
        url,
        marked: text.slice(start, end),
      }));
    },
  },
  chat: {
    path: () => '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'How high?' }], web_search_options: {} },
    near: { web_search_options: { search_context_size: 'low', user_location: approximate } },
    fewPages: true,
    answerOf: async (reply, stream) => {
      if (!stream) return reply.json<Json>();
      const sdk = new OpenAI({ apiKey: 'none', maxRetries: 0, fetch: reads(reply.text) });
      const read = sdk.chat.completions.stream({ model: 'm', messages: [] });
      const completion = await read.finalChatCompletion();
      const frames = reply.frames as readonly { readonly data: Json }[];
      const deltas = frames.flatMap(({ data }) => data['choices']?.[0]?.delta ?? []) as Json[];
      assert.equal(deltas.filter(({ role }) => role !== undefined).length, 1, 'one beginning');
      const annotations = deltas.flatMap((delta) => delta['annotations'] ?? []);
      const [{ message, ...choice }] = completion.choices as Json[] as [Json];
      return { ...completion, choices: [{ ...choice, message: { ...message, annotations } }] };
    },
    citedIn: ({ choices: [{ message }] }) =>
      message.annotations.map(({ url_citation: { url, start_index, end_index } }: Json) => ({
        url,
        marked: message.content.slice(start_index, end_index),
      })),
  },
  messages: {
    path: () => '/v1/messages',
    body: {
      max_tokens: 8_000,
      messages: [{ role: 'user', content: 'How high?' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    },
    near: { tools: [{ type: 'web_search_20250305', name: 'web_search', user_location: place }] },
    fewPages: false,
    answerOf: async (reply, stream) => {
      if (!stream) return reply.json<Json>();
      const sdk = new Anthropic({ apiKey: 'none', maxRetries: 0, fetch: reads(reply.text) });
      return sdk.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage();
    },
    citedIn: ({ content }) =>
      content.at(-1).citations.map(({ type, url, cited_text: words }: Json) => {
        assert.equal(type, 'web_search_result_location');
        assert.match(words, /^Text \d+/);
        return { url, marked: null };
      }),
  },
  gemini: {
    path: (name, stream) =>
      `/v1beta/models/${name}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: {
      contents: [{ role: 'user', parts: [{ text: 'How high?' }] }],
      tools: [{ googleSearch: {} }],
    },
    fewPages: false,
    answerOf: async (reply, stream) => {
      if (!stream) return reply.json<Json>();
      const chunks = reply.frames.map(({ data }) => data as Json);
      const parts = chunks.flatMap(({ candidates: [{ content }] }) => content.parts);
      const [candidate] = chunks.at(-1)!['candidates'];
      return { candidates: [{ ...candidate, content: { parts } }] };
    },
    citedIn: ({ candidates: [{ content, groundingMetadata: grounding }] }) => {
      const bytes = Buffer.from(content.parts.map(({ text }: Json) => text).join(''));
      return grounding.groundingSupports.map(
        ({ segment, groundingChunkIndices: [index] }: Json) => ({
          url: grounding.groundingChunks[index].web.uri,
          marked: bytes.subarray(segment.startIndex, segment.endIndex).toString(),
        }),
      );
    },
  },
};
const clientNames = Object.keys(clients) as (keyof typeof clients)[];

type Asked = Json & { readonly model: string; readonly stream?: boolean };
const ask = (client: keyof typeof clients, { model: name, stream = false, ...fields }: Asked) => {
  const { path, body } = clients[client];
  const asked = { ...body, ...(client !== 'gemini' && { model: name, stream }), ...fields };
  return gateway.postRecorded(path(name, stream), { key, body: asked });
};
const queryOf = (asked: readonly { readonly path: string; readonly query: string }[]) =>
  new URLSearchParams(asked.find(({ path }) => path === searchPath)!.query);

for (const client of clientNames)
  for (const wire of (['on-chat', 'on-messages', 'on-responses'] as const).filter(
    // OpenAI serves Chat in Chat.
    (name) => client !== 'chat' || name !== 'on-responses',
  ))
    for (const stream of [false, true])
      test(`an answer to ${client} cites its searches ${wire}, ${stream ? 'streamed' : 'whole'}`, async () => {
        play(wire, searchTurn('a', 'b'), answerTurn);
        const { reply, asked } = await ask(client, { model: wire, stream });
        assert.equal(reply.status, 200, reply.text);
        if (stream) assert.equal(checkStream(client, reply.text).ending, 'success');
        const answer = await clients[client].answerOf(reply, stream);
        // The mark of the first turn cites nothing: nothing was found then.
        const found = clients[client].citedIn(answer);
        const pagesCited = found.map(({ url }) => url.split('/').at(-1));
        assert.deepEqual(pagesCited, ['2', '1', '4', '3']);
        for (const [index, { marked }] of found.entries())
          if (marked !== null)
            assert.match(marked, new RegExp(`^\\[.*\\b${cited[index]}\\b.*\\]$`));
        const { paths, format } = wires[wire];
        const last = asked.findLast(({ path }) => path === paths[0])!;
        const results = format.readResults(last.body as Json);
        assert.match(results[1]!, /\[11\] Page 1\n/);
        assert.equal(reply.costMicros, costOf(2, 2));
        assert.equal((await recordOf(reply))!['web_searches'], 2);
        assert.equal(await heldMicros(), 0);
      });

for (const client of clientNames.filter((name) => clients[name].near))
  test(`the place of the user and the size of the context reach a search of ${client}`, async () => {
    play('on-chat', searchTurn('a'), answerTurn);
    const { near, fewPages } = clients[client];
    const { reply, asked } = await ask(client, { model: 'on-chat', ...near });
    assert.deepEqual([reply.status, reply.headers['x-service-ignored']], [200, undefined]);
    const { tools } = asked[0]!.body as Json;
    assert.match(tools[0].function.description, /The user is in: Paris, FR\.$/);
    assert.equal(queryOf(asked).get('count'), fewPages ? '5' : '10');
    const results = chatTurns.readResults(asked.at(-1)!.body as Json).join();
    assert.equal(results.includes('[6] Page 6'), !fewPages);
  });

test('a failed search of Chat is free, and told to the model', async () => {
  gateway.upstream.on(searchPath, answerStatus(500));
  play('on-chat', searchTurn('a'), answerTurn);
  const { reply, asked } = await ask('chat', { model: 'on-chat' });
  assert.equal(reply.json<Json>()['choices'][0].message.annotations, undefined);
  assert.match(chatTurns.readResults(asked.at(-1)!.body as Json).join(), /search failed/);
  assert.equal(reply.costMicros, costOf(2, 0));
});

test('Chat searches beside the client’s functions, which a choice of none leaves out', async () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  const sent = async (fields: object) => {
    play('on-chat', answerTurn);
    const { asked } = await ask('chat', { model: 'on-chat', tools, ...fields });
    const body = asked[0]!.body as Json;
    return [chatTurns.toolNames(body), body['tool_choice'], body['web_search_options']];
  };
  assert.deepEqual(await sent({}), [['f', 'web_search'], undefined, undefined]);
  const required = [['f', 'web_search'], 'required', undefined];
  assert.deepEqual(await sent({ tool_choice: 'required' }), required);
  assert.deepEqual(await sent({ tool_choice: 'none' }), [['web_search'], undefined, undefined]);
});

test('refused: a search of several answers, beside a function of its name, or of a model without tools', async () => {
  const tools = [{ type: 'function', function: { name: 'web_search' } }];
  for (const [param, fields] of [
    ['n', { n: 2 }],
    ['web_search_options', { tools }],
    ['web_search_options', { model: 'without-tools' }],
  ] as const) {
    const { reply, asked } = await ask('chat', { model: 'on-chat', ...fields });
    assert.deepEqual([reply.status, reply.error.param, asked.length], [400, param, 0], reply.text);
  }
});

test('OpenAI’s search models search in Chat themselves, its others through the gateway', async () => {
  gateway.upstream.on('/v1/chat/completions', answerJson(chatTurns.whole(answerTurn)));
  play('on-responses', answerTurn);
  const searches = async (name: string) => {
    const { asked } = await ask('chat', { model: name });
    const { path, body } = asked[0]!;
    return [path, (body as Json)['web_search_options']];
  };
  const inChat = '/v1/chat/completions';
  assert.deepEqual(await searches('gpt-5-search-api'), [inChat, {}]);
  assert.deepEqual(await searches('sold-elsewhere'), [inChat, undefined]);
  assert.deepEqual(await searches('no-functions-in-chat'), ['/v1/responses', undefined]);
});

test('the hold covers our searches behind a route whose provider searches once', async () => {
  gateway.upstream.on('/v1/chat/completions', answerStatus(503));
  play('on-chat', searchTurn('a', 'b', 'c', 'd', 'e'), answerTurn);
  const { reply } = await ask('chat', { model: 'both', max_tokens: 100 });
  assert.equal(reply.costMicros, costOf(2, 5), reply.text);
  const held = await holdOf(reply);
  // Ten thousand tokens of pages in each of five rounds, and all again in the next.
  assert.ok(held >= 5 * searchMicros + 150_000 * 3, String(held));
});

test('a cap below the hold of five searches allows one in Chat, and a smaller one is told so', async () => {
  play('on-chat', searchTurn('a', 'b'), answerTurn);
  const capped = async (usd: number) => {
    const dailyCapMicros = microsFromUsd(usd);
    const own = await gateway.makeKey({ mode: 'live', account, dailyCapMicros });
    const body = { ...clients.chat.body, model: 'on-chat', max_tokens: 100 };
    return gateway.post('/v1/chat/completions', { key: own.key, body });
  };
  const one = await capped(0.1);
  assert.equal(one.status, 200, one.text);
  assert.equal(one.costMicros, costOf(2, 1));
  const none = await capped(0.01);
  assert.notEqual(none.status, 200);
  assert.match(none.error.message, /with one web search, whose results are read as input/);
});
