import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import {
  answerContext,
  blockStart,
  blockStop,
  clientRequest,
  upstreamTarget,
} from '../../../tests/support/formats/messages.ts';
import { messages } from './index.ts';
import { isSearchTool, readSearchTool } from './web-search.ts';

const search = { type: 'web_search_20250305', name: 'web_search' };
const newer = { ...search, type: 'web_search_20260318', response_inclusion: 'full' };
const write = (fields: Record<string, unknown>, searchesMax?: number) =>
  messages.relay.writeRequest(
    clientRequest(fields),
    upstreamTarget(searchesMax === undefined ? {} : { searchesMax }),
  );

test('every web search of the official types is known, and later versions too', () => {
  const types = readFileSync(
    new URL(
      '../../../node_modules/@anthropic-ai/sdk/resources/beta/messages/messages.d.ts',
      import.meta.url,
    ),
    'utf8',
  );
  const literals = [
    ...types.matchAll(/^export interface BetaWebSearchTool\d+ \{[\s\S]*?^ {4}type: '(\w+)';$/gm),
  ].map(([, type]) => type!);
  assert.ok(literals.length >= 3, literals.join());
  assert.deepEqual(
    [...literals, 'web_search_20300101'].filter((type) => !isSearchTool({ type })),
    [],
  );
  for (const type of [
    'custom',
    'web_fetch_20260318',
    'web_search_tool_result',
    'web_search',
    undefined,
  ]) {
    assert.ok(!isSearchTool({ type }), String(type));
  }
});

test('a search is found, with its limit', () => {
  assert.equal(readSearchTool(clientRequest({ tools: [{ name: 'f', input_schema: {} }] })), null);
  const limited = { ...search, max_uses: 2 };
  assert.deepEqual(
    readSearchTool(clientRequest({ tools: [{ name: 'f', input_schema: {} }, limited] })),
    { name: 'web_search', searchesMax: 2, limitField: 'tools[1].max_uses' },
  );
});

test('a second search, an invalid limit and callers that run code are refused by name', () => {
  const refused: [tools: unknown[], param: string][] = [
    [[search, newer], 'tools[1].type'],
    ...[0, -1, 1.5, 101, '3', 1e300].map((value): [unknown[], string] => [
      [{ ...search, max_uses: value }],
      'tools[0].max_uses',
    ]),
    ...[[], ['code_execution_20260521'], ['direct', 'code_execution_20260521'], 'direct'].map(
      (callers): [unknown[], string] => [
        [{ ...newer, allowed_callers: callers }],
        'tools[0].allowed_callers',
      ],
    ),
  ];
  for (const [tools, param] of refused) {
    assertRefused(() => readSearchTool(clientRequest({ tools })), param);
  }
});

test('with a price the tool passes with the held limit; a later version may not run code, which is listed', () => {
  const located = {
    ...search,
    user_location: { type: 'approximate', city: 'Oslo' },
    blocked_domains: ['a.b'],
  };
  assert.deepEqual(write({ tools: [located] }, 5).body.tools, [{ ...located, max_uses: 5 }]);
  const direct = { ...newer, allowed_callers: ['direct'] };
  const { body, ignored } = write({ tools: [{ type: 'bash_20250124', name: 'bash' }, newer] }, 2);
  assert.deepEqual(body.tools, [
    { type: 'bash_20250124', name: 'bash' },
    { ...direct, max_uses: 2 },
  ]);
  assert.deepEqual(ignored, ['tools[1].allowed_callers']);
  assert.deepEqual(write({ tools: [direct] }, 2), { ...write({ tools: [newer] }, 2), ignored: [] });
});

test('without a price it is left out and listed if the model need not use it', () => {
  const own = { name: 'f', input_schema: { type: 'object' } };
  const { body, ignored } = write({ tools: [search, own] });
  assert.deepEqual([body.tools, ignored], [[own], ['tools[0]']]);
});

test('forced without a price or on a model of another format, and inside the conversation it is refused by name', () => {
  const change = { type: 'tool_addition', tool: { type: 'tool_definition', definition: search } };
  const changed = { messages: [{ role: 'system', content: [change] }] };
  const refused: [run: () => unknown, param: string, message: RegExp][] = [
    [
      () => write({ tools: [search], tool_choice: { type: 'tool', name: search.name } }),
      'tools[0].type',
      /`tool_prices`/,
    ],
    [
      () => messages.readRequest(clientRequest({ tools: [search], tool_choice: { type: 'any' } })),
      'tools[0].type',
      /does not run there/,
    ],
    [() => write(changed, 5), 'messages[0].content[0].tool.definition.type', /no price/],
    [
      () => write({ tools: [search, { type: 'web_fetch_20260318', name: 'web_fetch' }] }, 5),
      'tools[1].type',
      /no hold can cover/,
    ],
    [
      () => write({ tools: [search, { type: 'code_execution_20260521', name: 'c' }] }, 5),
      'tools[1].type',
      /billed by the hour/,
    ],
  ];
  for (const [run, param, message] of refused) {
    assertRefused(run, param, message);
  }
});

const found = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    {
      type: 'web_search_result',
      url: 'https://a.b',
      title: 'A',
      encrypted_content: 'EqgfCioIARgB==',
      page_age: null,
    },
  ],
};
const failed = {
  ...found,
  content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
};
const use = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'web_search',
  input: { query: 'x' },
};

const answerOf = (...content: object[]) => ({
  type: 'message',
  role: 'assistant',
  content,
  usage: { input_tokens: 9, output_tokens: 1 },
});

test('blocks of a search pass byte for byte in history and answer', () => {
  const history = [
    { role: 'user', content: 'Search' },
    { role: 'assistant', content: [use, found, textPart('Hi')] },
    { role: 'user', content: 'More' },
  ];
  assert.deepEqual(write({ messages: history }).body.messages, history);
  const relayed = messages.relay.relayAnswer(answerOf(use, found), answerContext());
  assert.deepEqual(relayed.body.content, [use, found]);
});

test('the provider’s own count is used; without one, results count and errors do not', () => {
  const answer = answerOf(use, found, use, failed);
  const searchesOf = (more: object) => {
    const counted = { ...answer, usage: { ...answer.usage, ...more } };
    return messages.relay.relayAnswer(counted, answerContext()).searches;
  };
  assert.equal(searchesOf({}), 1);
  assert.equal(searchesOf({ server_tool_use: { web_search_requests: 3 } }), 3);
  assert.equal(searchesOf({ server_tool_use: { web_search_requests: 0 } }), 0);
  assert.equal(searchesOf({ server_tool_use: null }), 1);
  for (const lie of [-1, 1.5, '4', 1e12])
    assert.equal(searchesOf({ server_tool_use: { web_search_requests: lie } }), 1, String(lie));
});

test('a stream counts each search when its results arrive, and at its end by the provider’s count', () => {
  const pipe = messages.relay.relayStream(answerContext());
  const push = (event: object) => pipe.push({ event: '', data: JSON.stringify(event) });
  const message = answerOf();
  const usage = { ...message.usage, server_tool_use: { web_search_requests: 0 } };
  push({ type: 'message_start', message: { ...message, usage } });
  for (const [index, block] of [use, found, use, failed].entries()) {
    const frame = push(blockStart(block, index));
    assert.ok(frame.includes(JSON.stringify(block)), 'as it came');
    push(blockStop(index));
  }
  assert.equal(pipe.progress.searches, 1);
  const delta = { stop_reason: 'end_turn', stop_sequence: null };
  push({
    type: 'message_delta',
    delta,
    usage: { output_tokens: 5, server_tool_use: { web_search_requests: 2 } },
  });
  push({ type: 'message_stop' });
  assert.deepEqual([pipe.progress.status, pipe.progress.searches], ['finished', 2]);
});
