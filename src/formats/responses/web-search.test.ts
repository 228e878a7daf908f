import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { parseSse } from '../../../tests/support/formats/sse.ts';
import { readOwnAnswer } from '../../../tests/support/recordings.ts';
import {
  contextFor,
  requestFor,
  runPipe,
  sseEvent,
  target,
} from '../../../tests/support/formats/responses.ts';
import { responses } from './index.ts';
import { countSearches, isSearchTool, readSearchTool } from './web-search.ts';

const search = { type: 'web_search' };
const write = (fields: Record<string, unknown>, searchesMax?: number) =>
  responses.relay.writeRequest(requestFor(fields), {
    ...target,
    ...(searchesMax !== undefined && { searchesMax }),
  });

test('exactly the web searches of the official types are recognised', () => {
  const types = readFileSync(
    new URL('../../../node_modules/openai/resources/responses/responses.d.ts', import.meta.url),
    'utf8',
  );
  const literals = [
    ...types.matchAll(/^export interface WebSearch\w*Tool \{[\s\S]*?^ {4}type: (.*);$/gm),
  ].flatMap(([, union]) => [...union!.matchAll(/'(\w+)'/g)].map((match) => match[1]!));
  assert.equal(literals.length, 4);
  assert.deepEqual(
    literals.filter((type) => !isSearchTool({ type })),
    [],
  );
  for (const type of ['function', 'file_search', 'tool_search', undefined, 'toString'])
    assert.ok(!isSearchTool({ type }), type);
});

test('a search is found in the request’s tools and items, with the limit of all calls', () => {
  const found = { name: 'web_search', searchesMax: null, limitField: 'max_tool_calls' };
  assert.equal(readSearchTool(requestFor({ tools: [{ type: 'function', name: 'f' }] })), null);
  assert.deepEqual(
    readSearchTool(requestFor({ tools: [{ type: 'function', name: 'f' }, search] })),
    found,
  );
  assert.deepEqual(readSearchTool(requestFor({ tools: [search], max_tool_calls: 3 })), {
    ...found,
    searchesMax: 3,
  });
  const tools = [{ type: 'web_search_preview_2025_03_11' }];
  const input = [{ type: 'additional_tools', role: 'developer', tools }];
  assert.deepEqual(readSearchTool(requestFor({ input })), { ...found, name: 'web_search_preview' });
});

test('two searches with different prices and an invalid limit are refused by name', () => {
  const refused = [
    [{ tools: [search, { type: 'web_search_preview' }] }, 'tools[1].type'],
    ...[0, -1, 1.5, 101, '3', 1e300].map(
      (value) => [{ tools: [search], max_tool_calls: value }, 'max_tool_calls'] as const,
    ),
  ] as const;
  for (const [fields, param] of refused) {
    assertRefused(() => readSearchTool(requestFor(fields)), param);
  }
});

test('with a price the tool passes unchanged with the held limit; without one it is refused by name if it is forced', () => {
  const tool = {
    type: 'web_search_2025_08_26',
    search_context_size: 'high',
    filters: { allowed_domains: ['a.b'] },
  };
  const { body, ignored } = write(
    { tools: [tool], include: ['web_search_call.action.sources'] },
    5,
  );
  assert.deepEqual([body.tools, body.max_tool_calls, ignored], [[tool], 5, []]);
  assert.ok((body.include as string[]).includes('web_search_call.action.sources'));
  assert.equal(
    write({ max_tool_calls: 7 }).body.max_tool_calls,
    7,
    'without a search the limit is the client’s own',
  );
  for (const forced of ['required', { type: 'web_search_2025_08_26' }])
    assertRefused(
      () => write({ tools: [tool], tool_choice: forced }),
      'tools[0].type',
      /not priced.*`tool_prices`/,
    );
  assertRefused(
    () => responses.readRequest(requestFor({ tools: [tool], tool_choice: 'required' })),
    'tools[0].type',
    /runs at OpenAI/,
  );
  for (const type of ['file_search', 'code_interpreter', 'image_generation', 'mcp']) {
    assertRefused(() => write({ tools: [tool, { type }] }, 5), 'tools[1].type');
  }
});

test('without a price a search that need not be used is left out and listed, in a choice of tools, too', () => {
  const own = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };
  const item = { type: 'additional_tools', role: 'developer', tools: [search, own] };
  const { body, ignored } = write({
    tools: [own, search],
    input: [item, { role: 'user', content: 'x' }],
  });
  assert.deepEqual([body.tools, ignored], [[own], ['tools[1]', 'input[0].tools[0]']]);
  assert.deepEqual((body.input as (typeof item)[])[0]!.tools, [own]);
  const choose = (tools: object[]) =>
    write({ tools: [own, search], tool_choice: { type: 'allowed_tools', mode: 'auto', tools } })
      .body.tool_choice;
  const named = { type: 'function', name: 'f' };
  assert.deepEqual(choose([named, search]), {
    type: 'allowed_tools',
    mode: 'auto',
    tools: [named],
  });
  assert.equal(choose([search]), 'none');
});

const call = (action: object | undefined, status?: string) => ({
  type: 'web_search_call',
  id: 'ws_1',
  status,
  action,
});
const done = call({ type: 'search', query: 'x' }, 'completed');
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
};

test('the provider’s own count is used; without one, completed searches count and opened pages do not', () => {
  const output = [
    done,
    call({ type: 'open_page' }, 'completed'),
    call({ type: 'find_in_page' }, 'completed'),
    message,
  ];
  assert.equal(countSearches({}, output), 1);
  const unfinished = ['failed', 'searching'].map((status) => call({ type: 'search' }, status));
  assert.equal(countSearches({}, [call(undefined, 'completed'), ...unfinished]), 1);
  const counted = (requests: unknown) =>
    countSearches({ tool_usage: { web_search: { num_requests: requests } } }, output);
  assert.deepEqual([counted(3), counted(0)], [3, 0]);
  for (const lie of [-1, 1.5, '4', 1e12, null]) assert.equal(counted(lie), 1, String(lie));
});

test('a stream counts each search when it ends, and its items and annotations pass unchanged', () => {
  const pipe = responses.relay.relayStream(contextFor());
  const page = { type: 'url_citation', url: 'https://a.b', title: 'A' };
  const annotation = { ...page, start_index: 0, end_index: 2 };
  const begun = call(undefined, 'in_progress');
  const created = { sequence_number: 0, response: { id: 'resp_1', output: [] } };
  pipe.push(sseEvent('response.created', created));
  const events: [type: string, fields: object, searches: number][] = [
    ['response.output_item.added', { output_index: 0, item: begun }, 0],
    ['response.web_search_call.searching', { output_index: 0, item_id: 'ws_1' }, 0],
    ['response.output_item.done', { output_index: 0, item: done }, 1],
    ['response.output_text.annotation.added', { output_index: 1, annotation }, 1],
  ];
  for (const [index, [type, fields, searches]] of events.entries()) {
    const event = sseEvent(type, { sequence_number: index + 1, ...fields });
    assert.ok(pipe.push(event).includes(event.data), type);
    assert.equal(pipe.progress.searches ?? 0, searches, type);
  }
  const response = {
    id: 'resp_1',
    output: [done, done, message],
    usage: { input_tokens: 9, output_tokens: 1 },
  };
  pipe.push(sseEvent('response.completed', { sequence_number: 5, response }));
  assert.deepEqual(
    [pipe.progress.status, pipe.progress.searches],
    ['finished', 2],
    'the whole output has the last word',
  );
});

test('searches are counted in whole answers and streams; opened pages are not', () => {
  const whole = readOwnAnswer('openai-responses/web-search.json').toString('utf8');
  assert.equal(responses.relay.relayAnswer(JSON.parse(whole), contextFor()).searches, 2);
  const pipe = responses.relay.relayStream(contextFor());
  runPipe(pipe, parseSse(readOwnAnswer('openai-responses/web-search.sse')));
  assert.deepEqual([pipe.progress.status, pipe.progress.searches], ['finished', 1]);
});
