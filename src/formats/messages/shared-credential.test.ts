import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import { ApiError } from '../../canonical/errors.ts';
import { clientRequest, upstreamTarget } from '../../../tests/support/formats/messages.ts';
import { messages } from './index.ts';

const user = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });
const image = { type: 'image', source: { type: 'file', file_id: 'file_1' } };
const webSearch = { type: 'web_search_20260318', name: 'web_search' };
const definition = { type: 'tool_definition', definition: webSearch };
const addition = { type: 'tool_addition', tool: definition };

/** By the name of the field that is refused. */
const refused: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  container: [{ container: 'container_1' }, { container: { skills: [] } }],
  mcp_servers: [{ mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'a' }] }],
  thread: [{ thread: { type: 'create' } }],
  compaction: [{ compaction: { type: 'summarize' } }],
  fallbacks: [{ fallbacks: 'default' }],
  fallback_credit_token: [{ fallback_credit_token: 'x' }],
  billing_policy: [{ billing_policy: { type: 'billing_policy', bill_to: 'user_profile' } }],
  speed: [{ speed: 'slow' }],
  'system[0].citations[0].file_id': [
    { system: [{ type: 'text', text: 'x', citations: [{ file_id: 'file_1' }] }] },
  ],
  inference_geo: [{ inference_geo: 'us' }],
  service_tier: [{ service_tier: 'priority' }],
  'tools[0].type': [
    { tools: [webSearch] },
    { tools: [{ type: 'web_fetch_20260318', name: 'web_fetch' }] },
    { tools: [{ type: 'code_execution_20260521', name: 'code_execution' }] },
    { tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'm' }] },
    { tools: [{ type: 'mcp_toolset', mcp_server_name: 'a' }] },
    {
      tools: [{ type: 'unheard_of_20300101', name: 'a' }],
      tool_choice: { type: 'tool', name: 'a' },
    },
  ],
  'context_management.edits[0].type': [
    { context_management: { edits: [{ type: 'compact_20260112' }] } },
    { context_management: [{ edits: [{ type: 'compact_20260112' }] }] },
  ],
  'messages[0].content[0].source.file_id': [
    user(image),
    user({ type: 'document', source: { type: 'file', file_id: 'file_1' } }),
  ],
  'messages[0].content[0].file_id': [user({ type: 'container_upload', file_id: 'file_1' })],
  'messages[0].content[0].content[0].source.file_id': [
    user({ type: 'tool_result', tool_use_id: 'a', content: [image] }),
  ],
  'messages[0].content[0].source.content[0].source.file_id': [
    user({ type: 'document', source: { type: 'content', content: [image] } }),
  ],
  'messages[0].content[0].tool.definition.type': [
    { messages: [{ role: 'system', content: [addition] }] },
    user({ ...addition, tool: { ...definition, type: 'tool_definition ' } }),
  ],
  'messages[0].content[0].tool_changes[0].tool.definition.type': [
    user({ type: 'compaction', tool_changes: [addition] }),
  ],
};

for (const [param, bodies] of Object.entries(refused)) {
  for (const fields of bodies) {
    test(`${JSON.stringify(fields)} is refused on the straight path and in translation, by the name of ${param}`, () => {
      // A tool that the model may do without is left out in translation.
      const request = clientRequest({ tool_choice: { type: 'any' }, ...fields });
      assertRefused(() => messages.relay.writeRequest(request, upstreamTarget()), param);
      assertRefused(() => messages.readRequest(request), param);
    });
  }
}

const passing: Record<string, unknown>[] = [
  { tools: [{ type: 'bash_20250124', name: 'bash' }] },
  { tools: [{ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' }] },
  { tools: [{ type: 'memory_20250818', name: 'memory' }] },
  { tools: [{ type: 'computer_20251124', name: 'computer' }] },
  { tools: [{ type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' }] },
  { speed: 'standard', inference_geo: 'global', mcp_servers: [] },
  { cache_control: { type: 'ephemeral', ttl: '1h' } },
  {
    context_management: {
      edits: [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }],
    },
  },
  {
    messages: [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'b', input: { file_id: 'the client’s own' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] },
    ],
  },
];

for (const fields of passing) {
  test(`${JSON.stringify(fields)} passes unchanged on the straight path`, () => {
    const { body, ignored } = messages.relay.writeRequest(clientRequest(fields), upstreamTarget());
    for (const [name, value] of Object.entries(fields)) assert.deepEqual(body[name], value);
    assert.deepEqual(ignored, []);
  });
}

test('the standard tier is always sent, and another tier of the client’s is listed', () => {
  for (const [tier, listed] of [
    [undefined, []],
    ['standard_only', []],
    ['auto', ['service_tier']],
  ] as const) {
    const { body, ignored } = messages.relay.writeRequest(
      clientRequest({ service_tier: tier }),
      upstreamTarget(),
    );
    assert.equal(body.service_tier, 'standard_only');
    assert.deepEqual(ignored, listed);
  }
});

const sdkFolder = new URL('../../../node_modules/@anthropic-ai/sdk/resources/', import.meta.url);
const readTypes = (path: string) =>
  readFileSync(new URL(path, sdkFolder), 'utf8').replaceAll(/\/\*\*[\s\S]*?\*\//g, '');

test('of the official types’ tools, those that the client runs pass and those that the provider runs are refused', () => {
  const types = readTypes('beta/messages/messages.d.ts');
  const union = /export type BetaToolUnion = ([^;]+);/.exec(types)![1]!.split(' | ');
  const clients = /export type BetaClientToolUnion = ([^;]+);/.exec(types)![1]!.split(' | ');
  const typed = union.filter((name) => name !== 'BetaTool');
  assert.ok(typed.length > 20, 'the types are read');
  for (const name of typed) {
    const declaration = new RegExp(
      `export interface ${name} \\{[\\s\\S]*?\\n {4}type: '([^']+)'`,
    ).exec(types)!;
    const write = () =>
      messages.relay.writeRequest(
        clientRequest({
          tools: [{ type: declaration[1], name: 'x' }],
          tool_choice: { type: 'tool', name: 'x' },
        }),
        upstreamTarget(),
      );
    if (clients.includes(name) || name.startsWith('BetaToolSearchTool'))
      assert.doesNotThrow(write, name);
    else assert.throws(write, ApiError, name);
  }
});
