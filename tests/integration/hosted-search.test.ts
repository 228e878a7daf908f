// Web searches that the gateway runs for models whose provider has none or sells none: for each
// client's format on each provider's, one answer that cites its pages, one hold, and a charge for all
// calls of the model and each search.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, beforeEach, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { microsFromUsd } from '../../src/lib/money.ts';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import { columnOf } from '../support/column-of.ts';
import {
  answerTurn,
  costOf,
  hostedModel,
  responseOf,
  searchMicros,
  searchPath,
  searchTurn as turnOf,
  startHostedGateway,
  thought,
  type Wire,
  wires,
} from '../support/hosted-gateway.ts';
import type { Reply } from '../support/http.ts';
import type { Json } from '../support/plain/reading.ts';
import { Random } from '../support/random.ts';
import { checkStream } from '../support/stream-rules.ts';
import { wav } from '../support/task-samples.ts';
import { chatTurns } from '../support/turns-chat.ts';
import type { Turn } from '../support/turn-format.ts';
import { messagesTurns } from '../support/turns-messages.ts';
import { until } from '../support/until.ts';
import {
  answerJson,
  answerSse,
  answerStatus,
  framesText,
  hang,
  holdBack,
  thenHang,
} from '../support/upstream.ts';
import { scaled } from '../support/volume.ts';

const prices = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };
const claude = (fields: object) => hostedModel('anthropic', 'claude-sonnet-4-5', fields);
const local = { provider: 'local', model: 'm' };
/** Its own searches are not sold. */
const unsold = { tool_prices: { web_search: null, web_search_preview: null } };
const { gateway, clock, key, account, play, recordOf, heldMicros, holdOf, lossOf, firstRecord } =
  await startHostedGateway({
    'on-messages': claude(unsold),
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

const pages = Array.from({ length: 10 }, (_page, index) => ({
  title: `Page ${index + 1}`,
  url: `https://www.example.com/${index + 1}`,
  // What a page says of numbers means nothing.
  description: `Text ${index + 1} [3] [99]`,
}));
beforeEach(() => {
  gateway.upstream.on(searchPath, answerJson({ web: { results: pages } }));
});

const searchTurn = (...queries: string[]): Turn => ({
  ...turnOf(...queries),
  thought,
  text: 'See [1].',
});
const citingTurn: Turn = {
  ...answerTurn,
  text: '🗼 It is list[1] [2], 高い[11, 4] and [77]. 👩‍👩‍👧 [3]',
};
const cited = ['2', '11', '4', '3'];
const f = { name: 'f', parameters: { type: 'object' } };

type Cited = { readonly url: string; readonly marked: string | null };
type Client = {
  readonly path: (model: string, stream: boolean) => string;
  readonly body: object;
  /**
   * A search near Paris that wants few pages; Messages cannot say how many. Left out: it has no
   * words for either.
   */
  readonly near?: object;
  readonly fewPages: boolean;
  readonly answerOf: (reply: Reply, stream: boolean) => Promise<Json>;
  /** The pages cited in the last text, and the words that a citation covers. */
  readonly citedIn: (answer: Json) => readonly Cited[];
  /** Checks how an answer shows two searches and what they cost. Left out: the format does not show them. */
  readonly checkShown?: (answer: Json) => void;
  /** Checks how an answer shows a search that failed. */
  readonly checkFailed: (answer: Json) => void;
};

const reads = (text: string) => async () =>
  new Response(text, { status: 200, headers: { 'content-type': 'text/event-stream' } });
const webSearch = { type: 'web_search' };
const messagesSearch = { type: 'web_search_20250305', name: 'web_search' };
const place = { city: 'Paris', country: 'FR' };
const approximate = { type: 'approximate', approximate: place };
/** Reasoning aside: Gemini signs its calls with some. */
const itemsOf = (response: Json) =>
  (response['output'] as Json[]).filter(({ type }) => type !== 'reasoning');
const kindsOf = (response: Json) => columnOf(itemsOf(response), 'type');
const blocksOf = (message: Json) =>
  (message['content'] as Json[]).filter(({ type }) => !String(type).includes('thinking'));

const clients: Readonly<Record<'responses' | 'chat' | 'messages' | 'gemini', Client>> = {
  responses: {
    path: () => '/v1/responses',
    body: { input: 'How high?', tools: [webSearch] },
    near: { tools: [{ ...webSearch, search_context_size: 'low', user_location: place }] },
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
    checkShown: (answer) => {
      const search = 'web_search_call';
      assert.deepEqual(kindsOf(answer), ['message', search, search, 'message']);
      const { status, action } = itemsOf(answer)[1]!;
      assert.deepEqual([status, action], ['completed', { type: 'search', query: 'a' }]);
      const { input_tokens: input, output_tokens: output, cost } = answer['usage'];
      assert.deepEqual([input, output, cost], [40, 20, costOf(2, 2) / 1e6]);
      assert.equal(answer['status'], 'completed');
    },
    checkFailed: (answer) => assert.equal(itemsOf(answer)[1]!['status'], 'failed'),
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
    checkFailed: ({ choices: [{ message }] }) => assert.deepEqual(message.annotations ?? [], []),
  },
  messages: {
    path: () => '/v1/messages',
    body: {
      max_tokens: 8_000,
      messages: [{ role: 'user', content: 'How high?' }],
      tools: [messagesSearch],
    },
    near: { tools: [{ ...messagesSearch, user_location: place }] },
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
    checkShown: (answer) => {
      const [, use, result, ...others] = blocksOf(answer);
      assert.deepEqual(columnOf(others, 'type'), [
        'server_tool_use',
        'web_search_tool_result',
        'text',
      ]);
      assert.deepEqual([use!['name'], use!['input']], ['web_search', { query: 'a' }]);
      assert.equal(result!['tool_use_id'], use!['id']);
      const { encrypted_content: encrypted, ...found } = result!['content'][0];
      assert.ok(encrypted);
      const { title, url } = pages[0]!;
      assert.deepEqual(found, { type: 'web_search_result', title, url, page_age: null });
      assert.equal(answer['stop_reason'], 'end_turn');
      const { server_tool_use: used, input_tokens: input, output_tokens: output } = answer['usage'];
      assert.deepEqual([used.web_search_requests, input, output], [2, 40, 20]);
    },
    checkFailed: (answer) => {
      assert.deepEqual(blocksOf(answer)[2]!['content'], {
        type: 'web_search_tool_result_error',
        error_code: 'unavailable',
      });
      assert.equal(answer['usage'].server_tool_use.web_search_requests, 0);
    },
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
    checkFailed: ({ candidates: [{ groundingMetadata: grounding }] }) =>
      assert.deepEqual(grounding?.groundingSupports ?? [], []),
  },
};
type ClientName = keyof typeof clients;
const clientNames = Object.keys(clients) as ClientName[];

type Asked = Json & { readonly model: string; readonly stream?: boolean };
const ask = (client: ClientName, { model: name, stream = false, ...fields }: Asked) => {
  const { path, body } = clients[client];
  const asked = { ...body, ...(client !== 'gemini' && { model: name, stream }), ...fields };
  return gateway.postRecorded(path(name, stream), { key, body: asked });
};
const queryOf = (asked: readonly { readonly path: string; readonly query: string }[]) =>
  new URLSearchParams(asked.find(({ path }) => path === searchPath)!.query);

/** What a request of each format says of the choice of tools. */
const choiceIn = ({ tool_choice: choice, toolConfig: config }: Json): unknown =>
  choice?.function?.name ??
  choice?.name ??
  choice?.type ??
  choice ??
  config?.functionCallingConfig?.mode;
const isFree = (body: Json) => [undefined, 'auto', 'AUTO'].includes(choiceIn(body) as string);

/** The searches that the provider itself runs. */
const native = ['chat on-responses', 'gemini on-gemini'];
const pairs = clientNames.flatMap((client) =>
  (Object.keys(wires) as Wire[])
    .filter((wire) => !native.includes(`${client} ${wire}`))
    .map((wire) => ({ client, wire })),
);

for (const { client, wire } of pairs)
  for (const stream of [false, true])
    test(`an answer to ${client} cites its searches ${wire}, ${stream ? 'streamed' : 'whole'}`, async () => {
      play(wire, searchTurn('a', 'b'), citingTurn);
      const { postedMicros } = await gateway.balance(account);
      const { reply, asked } = await ask(client, { model: wire, stream });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.headers['x-service-ignored'], undefined);
      if (stream) assert.equal(checkStream(client, reply.text).ending, 'success');
      const answer = await clients[client].answerOf(reply, stream);
      clients[client].checkShown?.(answer);
      // The mark of the first turn cites nothing: nothing was found then.
      const found = clients[client].citedIn(answer);
      const pagesCited = found.map(({ url }) => url.split('/').at(-1));
      assert.deepEqual(pagesCited, ['2', '1', '4', '3']);
      for (const [index, { marked }] of found.entries())
        if (marked !== null) assert.match(marked, new RegExp(`^\\[.*\\b${cited[index]}\\b.*\\]$`));

      const { format } = wires[wire];
      const [first, last, ...others] = asked.filter(({ path }) => path !== searchPath);
      assert.deepEqual([asked.length, others], [4, []]);
      assert.deepEqual(format.toolNames(first!.body as Json), ['web_search']);
      assert.ok(isFree(first!.body as Json), 'nobody demands a search');
      assert.match(format.readResults(last!.body as Json)[1]!, /\[11\] Page 1\n[^]*Text 1 /);
      assert.ok(last!.text.includes(format.proof(thought)), 'the thought comes back');

      assert.equal(reply.costMicros, costOf(2, 2));
      const balance = await gateway.balance(account);
      assert.deepEqual(
        [postedMicros - balance.postedMicros, balance.heldMicros],
        [costOf(2, 2), 0],
      );
      const { input_tokens: input, output_tokens: output, web_searches } = (await recordOf(reply))!;
      assert.deepEqual([input, output, web_searches], [40, 20, 2]);
    });

for (const client of clientNames)
  test(`a failed search of ${client} is told to the model and not charged, whole and streamed`, async () => {
    gateway.upstream.on(searchPath, answerStatus(500));
    for (const stream of [false, true]) {
      play('on-chat', searchTurn('a'), answerTurn);
      const { reply, asked } = await ask(client, { model: 'on-chat', stream });
      assert.equal(reply.status, 200, reply.text);
      clients[client].checkFailed(await clients[client].answerOf(reply, stream));
      assert.match(chatTurns.readResults(asked.at(-1)!.body as Json).join(), /search failed/);
      assert.equal(reply.costMicros, costOf(2, 0));
    }
  });

for (const [client, limited] of [
  ['responses', { max_tool_calls: 3 }],
  ['messages', { tools: [{ ...messagesSearch, max_uses: 3 }] }],
] as const)
  test(`a model that only searches for ${client} comes to its end, whole and streamed`, async () => {
    for (const stream of [false, true]) {
      play('on-chat', searchTurn('again', 'and again'));
      const { reply, asked } = await ask(client, { model: 'on-chat', stream, ...limited });
      const answer = await clients[client].answerOf(reply, stream);
      const searches = asked.filter(({ path }) => path === searchPath).length;
      assert.deepEqual([searches, asked.length - searches], [3, 4]);
      assert.equal(reply.costMicros, costOf(4, 3));
      assert.ok((await holdOf(reply)) >= costOf(4, 3));
      if (client === 'responses') {
        assert.equal(answer['status'], 'completed');
        continue;
      }
      assert.equal(answer['stop_reason'], 'end_turn');
      assert.ok(!columnOf(blocksOf(answer), 'type').includes('tool_use'));
      const errors = blocksOf(answer).flatMap(({ content }) => content?.error_code ?? []);
      assert.deepEqual(errors, ['max_uses_exceeded', 'max_uses_exceeded', 'max_uses_exceeded']);
    }
  });

test('a turn that also calls the client’s functions ends with those, whole and streamed', async () => {
  const call = { id: 'call_own', name: 'f', arguments: { x: 1 } };
  for (const stream of [false, true]) {
    play('on-chat', { ...searchTurn('a'), calls: [...searchTurn('a').calls, call] });
    const answerWith = async (client: ClientName, tools: readonly object[]) => {
      const { reply, asked } = await ask(client, { model: 'on-chat', stream, tools });
      assert.deepEqual([asked.length, reply.costMicros], [1, costOf(1, 0)], reply.text);
      return clients[client].answerOf(reply, stream);
    };
    const response = await answerWith('responses', [webSearch, { type: 'function', ...f }]);
    assert.deepEqual(kindsOf(response), ['message', 'function_call']);
    const ofMessages = { name: 'f', input_schema: f.parameters };
    const message = await answerWith('messages', [messagesSearch, ofMessages]);
    assert.deepEqual(columnOf(blocksOf(message), 'type'), ['text', 'tool_use']);
    assert.deepEqual(blocksOf(message)[1]!['input'], { x: 1 });
    assert.equal(message['stop_reason'], 'tool_use');
  }
});

const chosen = { type: 'tool', name: 'web_search' };
const demanded: readonly (readonly [ClientName, Wire, choice: unknown, sent: string])[] = [
  ['messages', 'on-chat', chosen, 'web_search'],
  ['messages', 'on-responses', chosen, 'web_search'],
  ['messages', 'on-gemini', chosen, 'ANY'],
  ['responses', 'on-messages', 'required', 'any'],
  ['responses', 'on-messages', { type: 'web_search' }, 'web_search'],
  ['chat', 'on-messages', 'required', 'any'],
  ['chat', 'on-messages', { type: 'web_search' }, 'web_search'],
];
for (const [client, wire, choice, sent] of demanded)
  test(`a search that ${client} demands by ${JSON.stringify(choice)} is made once ${wire}, then the model is free`, async () => {
    for (const stream of [false, true]) {
      play(wire, searchTurn('a'), answerTurn);
      // Chat’s own field for searches has no choice.
      const listed = client === 'chat' && {
        tools: [{ type: 'openrouter:web_search' }],
        web_search_options: undefined,
      };
      const { reply, asked } = await ask(client, {
        model: wire,
        stream,
        tool_choice: choice,
        ...listed,
      });
      assert.equal(reply.costMicros, costOf(2, 1), reply.text);
      const [first, second] = asked.filter(({ path }) => path !== searchPath);
      assert.equal(choiceIn(first!.body as Json), sent);
      assert.ok(isFree(second!.body as Json));
    }
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

const urls = [
  'https://www.example.com/tower',
  'https://example.com.evil.org/',
  'https://other.org/blog/x',
  'https://other.org/',
  'https://notexample.com/c',
];
const limitedTo: readonly (readonly [
  ClientName,
  fields: object,
  query: string,
  found: readonly number[],
])[] = [
  ['responses', { filters: { allowed_domains: ['Example.com'] } }, 'q site:example.com', [0]],
  ...[null, {}, { allowed_domains: null }, { allowed_domains: [] }].map(
    (filters) => ['responses', { filters }, 'q', [0, 1, 2, 3, 4]] as const,
  ),
  [
    'messages',
    { allowed_domains: ['example.com', 'other.org/blog'] },
    'q site:example.com OR site:other.org/blog',
    [0, 2],
  ],
  ['messages', { blocked_domains: ['EXAMPLE.com'] }, 'q', [1, 2, 3, 4]],
  ['messages', { allowed_domains: [] }, 'q', [0, 1, 2, 3, 4]],
];
for (const [client, fields, query, found] of limitedTo)
  test(`domains limit what is searched and found: ${client}, ${JSON.stringify(fields)}`, async () => {
    const results = urls.map((url) => ({ ...pages[0], url }));
    gateway.upstream.on(searchPath, answerJson({ web: { results } }));
    play('on-chat', searchTurn('q'), answerTurn);
    const tool = { ...(client === 'responses' ? webSearch : messagesSearch), ...fields };
    const { reply, asked } = await ask(client, { model: 'on-chat', tools: [tool] });
    assert.equal(reply.costMicros, costOf(2, 1), reply.text);
    assert.equal(reply.headers['x-service-ignored'], undefined);
    assert.equal(queryOf(asked).get('q'), query);
    const read = chatTurns.readResults(asked.at(-1)!.body as Json).join();
    const expected = found.map((index) => urls[index]!);
    assert.deepEqual(
      urls.filter((url) => read.includes(`${url}\n`)),
      expected,
    );
    if (client === 'messages')
      assert.deepEqual(
        columnOf(blocksOf(reply.json<Json>())[2]!['content'] as Json[], 'url'),
        expected,
      );
  });

const ofMessages = (fields: object) => ({ tools: [{ ...messagesSearch, ...fields }] });
const tooMany = Array.from({ length: 101 }, () => 'a.b');
const refused: readonly (readonly [ClientName, fields: object, param: string])[] = [
  ['messages', ofMessages({ allowed_domains: 'a.b' }), 'tools[0].allowed_domains'],
  ['messages', ofMessages({ allowed_domains: ['a.b', 5] }), 'tools[0].allowed_domains[1]'],
  ['messages', ofMessages({ allowed_domains: ['https://a.b'] }), 'tools[0].allowed_domains[0]'],
  ['messages', ofMessages({ blocked_domains: ['*.b'] }), 'tools[0].blocked_domains[0]'],
  ['messages', ofMessages({ blocked_domains: [''] }), 'tools[0].blocked_domains[0]'],
  [
    'messages',
    ofMessages({ allowed_domains: ['a.b'], blocked_domains: ['c.d'] }),
    'tools[0].blocked_domains',
  ],
  ['messages', ofMessages({ blocked_domains: tooMany }), 'tools[0].blocked_domains'],
  ['messages', ofMessages({ max_uses: 0 }), 'tools[0].max_uses'],
  [
    'responses',
    { tools: [{ ...webSearch, filters: { allowed_domains: ['https://a.b'] } }] },
    'tools[0].filters.allowed_domains[0]',
  ],
  ['chat', { n: 2 }, 'n'],
  [
    'chat',
    { tools: [{ type: 'function', function: { name: 'web_search' } }] },
    'web_search_options',
  ],
  ['chat', { model: 'without-tools' }, 'web_search_options'],
];
for (const [client, fields, param] of refused)
  test(`a search of ${client} is refused with its field: ${JSON.stringify(fields).slice(0, 90)}`, async () => {
    const { reply, asked } = await ask(client, { model: 'on-chat', ...fields });
    assert.deepEqual([reply.status, asked.length], [400, 0], reply.text);
    // Messages has no place for the field but the message.
    const { message, param: named = message.slice(0, param.length) } = reply.error;
    assert.equal(named, param);
    assert.equal(await heldMicros(), 0);
  });

test('sound is counted alike in every turn, where the host does not count it', async () => {
  play('on-chat', searchTurn('a'), answerTurn);
  const data = wav(0.99).toString('base64');
  const sound = { type: 'input_audio', input_audio: { data, format: 'wav' } };
  const { reply } = await ask('responses', {
    model: 'hears',
    input: [{ role: 'user', content: [sound] }],
  });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.costMicros, costOf(2, 1) + 2 * 10 * (30 - prices.input));
});

test('the events of a stream are those of one response', async () => {
  play('on-messages', searchTurn('a', 'b'), answerTurn);
  const { reply } = await ask('responses', {
    model: 'on-messages',
    stream: true,
    reasoning: { effort: 'low' },
  });
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

const askChat = (fields: object) =>
  ask('chat', { model: 'on-chat', web_search_options: undefined, ...fields });

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
    for (const listed of [[tool], [{ type: 'function', function: f }, tool]]) {
      const { reply, asked } = await askChat({ tools: listed });
      assert.equal(reply.costMicros, costOf(2, 1), reply.text);
      assert.equal(reply.headers['x-service-ignored'], undefined);
      const sent = (asked[0]!.body as { tools: { function: { name: string } }[] }).tools;
      const names = listed.length > 1 ? ['f', 'web_search'] : ['web_search'];
      assert.deepEqual(columnOf(columnOf(sent, 'function'), 'name'), names);
      play('on-chat', searchTurn('towers'), answerTurn);
    }
    play('on-chat', answerTurn);
    for (const fields of [{ n: 2 }, { tool_choice: 'none' }]) {
      const { reply, asked } = await askChat({ tools: [tool], ...fields });
      assert.equal(reply.headers['x-service-ignored'], 'tools[0]');
      assert.equal((asked[0]!.body as Json)['tools'], undefined);
    }
  }
});

test('a search that may not leave OpenAI, or that is filtered by other things, is left out and listed', async () => {
  play('on-messages', answerTurn);
  for (const field of [
    { external_web_access: false },
    { filters: { type: 'eq', key: 'a', value: 'b' } },
  ]) {
    const { reply, asked } = await ask('responses', {
      model: 'on-messages',
      tools: [{ ...webSearch, ...field }],
    });
    assert.deepEqual([reply.status, reply.headers['x-service-ignored']], [200, 'tools[0]']);
    assert.deepEqual(
      [asked.length, (asked[0]!.body as Json)['tools'], reply.costMicros],
      [1, undefined, costOf(1, 0)],
    );
  }
});

for (const stream of [false, true])
  test(`when the call after a search fails, nothing is charged and nothing stays held, ${stream ? 'streamed' : 'whole'}`, async () => {
    play('on-messages', searchTurn('a'), answerStatus(500));
    const { reply } = await ask('responses', { model: 'on-messages', stream });
    if (stream) assert.equal(reply.frames.at(-1)!.event, 'response.failed');
    else assert.equal(reply.status, 502);
    assert.deepEqual([await recordOf(reply), await heldMicros()], [undefined, 0]);
    const loss = await lossOf(reply);
    // A broken stream reports no usage, so its output is estimated.
    if (stream) assert.ok(loss >= costOf(1, 1) && loss < 2 * costOf(1, 1), String(loss));
    else assert.equal(loss, costOf(1, 1));
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
  gateway.upstream.on(wires['on-messages'].paths[0], (response, request) => {
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
  const { reply } = await ask('responses', {
    model: 'flat',
    max_output_tokens: 8_000,
    max_tool_calls: 5,
  });
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
    gateway.upstream.on(wires['on-messages'].paths[0], (response, request) => {
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
    const { reply } = await ask('responses', {
      model: 'flat',
      max_output_tokens: 1_000,
      max_tool_calls: most,
    });
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
  const { reply } = await ask('responses', { model: 'tiers' });
  assert.equal(reply.costMicros, costOf(2, 1));
  await until(async () => (await lossOf(reply)) > 0);
  assert.equal(await lossOf(reply), costOf(2, 0));
});

test('all calls together have the time of one answer', async () => {
  const first = holdBack(answerJson(messagesTurns.whole(searchTurn('a'))));
  gateway.upstream.on(wires['on-messages'].paths[0], first.script, hang);
  const earlier = gateway.upstream.requests.length;
  const asking = ask('responses', { model: 'slow' });
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
  gateway.upstream.on(wires['on-messages'].paths[0], first, (answer, request) => {
    writing = answer;
    return started(answer, request);
  });
  const own = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const body = { ...clients.responses.body, model: 'on-messages', stream: true };
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
  const { reply } = await ask('responses', { model: 'tiered' });
  assert.deepEqual([reply.status, reply.headers['x-service-ignored']], [200, 'tools[0]']);
});

test('a repeat with the same Idempotency-Key makes no second search', async () => {
  play('on-messages', searchTurn('a'), answerTurn);
  const body = { ...clients.responses.body, model: 'on-messages', stream: true };
  const headers = { 'idempotency-key': 'once' };
  const send = () => gateway.post('/v1/responses', { key, headers, body });
  const first = await send();
  const earlier = gateway.upstream.requests.length;
  const again = await send();
  assert.deepEqual([again.costMicros ?? 0, gateway.upstream.requests.length], [0, earlier]);
  assert.deepEqual(kindsOf(responseOf(again, true)), kindsOf(responseOf(first, true)));
});

test('a test key searches in the sandbox', async () => {
  const made = await gateway.makeKey();
  const input = 'Hi\nsandbox: tool=web_search {"query":"cats"}';
  const body = { model: 'claude-haiku-4-5', input, tools: [webSearch] };
  const reply = await gateway.post('/v1/responses', { key: made.key, body });
  assert.deepEqual(kindsOf(responseOf(reply, false)), ['web_search_call', 'message']);
  const [record] = await gateway.usage<Json>(made.key);
  assert.equal(record!['web_searches'], 1);
});

test('Chat searches beside the client’s functions, which a choice of none leaves out', async () => {
  const tools = [{ type: 'function', function: f }];
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
