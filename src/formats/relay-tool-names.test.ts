// The straight path of every format: each place that names a tool, and only those.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contextFor,
  payloadsOf,
  runPipe,
  sseEvent,
} from '../../tests/support/formats/responses.ts';
import * as chat from './chat/relay-tool-names.ts';
import type { JsonObject } from '../lib/json.ts';
import * as messages from './messages/relay-tool-names.ts';
import * as responses from './responses/relay-tool-names.ts';
import { relayStream } from './responses/relay-stream.ts';
import { withFittedNames } from './tool-names.ts';

const long = `${'x'.repeat(150)}.list`;
const other = `${'x'.repeat(150)}.read`;
const named = { name: long };
const elsewhere = { name: `${long} is not a tool` };

const bodies: Readonly<
  Record<
    string,
    readonly [formats: Pick<typeof chat, 'renameTools' | 'toolNames'>, body: JsonObject]
  >
> = {
  chat: [
    chat,
    {
      tools: [
        {
          type: 'function',
          function: { ...named, parameters: { properties: { name: { type: 'string' } } } },
        },
        { type: 'custom', custom: { name: other } },
        { type: 'function', function: { name: 'short' } },
        { type: 'code_interpreter' },
      ],
      functions: [named],
      function_call: named,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: named }] },
      },
      messages: [
        { role: 'user', content: 'Hi', ...elsewhere },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { ...named, arguments: '{}' } }],
        },
        {
          role: 'assistant',
          tool_calls: [{ id: 'b', type: 'custom', custom: { name: other, input: '' } }],
        },
        { role: 'assistant', function_call: { ...named, arguments: '{}' } },
        { role: 'tool', tool_call_id: 'a', content: 'x', ...named },
        { role: 'function', content: 'x', ...named },
      ],
      metadata: elsewhere,
    },
  ],
  responses: [
    responses,
    {
      tools: [
        { type: 'function', ...named, parameters: null },
        { type: 'custom', name: other },
        { type: 'namespace', name: 'crm', tools: [{ type: 'function', ...named }] },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', ...named }] },
      input: [
        { role: 'user', content: 'Hi' },
        { type: 'function_call', call_id: 'a', arguments: '{}', ...named },
        { type: 'custom_tool_call', call_id: 'b', input: '', name: other },
        { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', ...named }] },
        { type: 'tool_search_output', call_id: 'c', tools: [{ type: 'function', ...named }] },
      ],
      metadata: elsewhere,
    },
  ],
  messages: [
    messages,
    {
      tools: [
        { ...named, input_schema: { type: 'object' } },
        { type: 'custom', name: other, input_schema: {} },
      ],
      tool_choice: { type: 'tool', ...named },
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', input: elsewhere, ...named }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [{ type: 'tool_reference', tool_name: other }],
            },
          ],
        },
      ],
      metadata: elsewhere,
    },
  ],
};

for (const [name, [{ renameTools, toolNames: rule }, body]] of Object.entries(bodies)) {
  test(`${name}: only tool names are fitted, and all of them are restored`, () => {
    const fitted = withFittedNames(body, { written: body, renameTools, rule });
    const { body: sent, toolNames: names } = fitted;
    const text = JSON.stringify(sent);
    assert.ok(!text.includes(`"${long}"`) && !text.includes(`"${other}"`), text);
    assert.equal(
      text.split(elsewhere.name).length,
      JSON.stringify(body).split(elsewhere.name).length,
    );
    assert.deepEqual(renameTools(sent, names!.toClient), body);
    assert.equal(
      renameTools(body, (same) => same),
      body,
    );
  });
}

test('a Responses stream that echoes the tools and repeats the function’s name has only the client’s names', () => {
  const tools = [{ type: 'function', name: long, parameters: {} }];
  const { renameTools, toolNames: rule } = responses;
  const { toolNames } = withFittedNames({ tools }, { written: { tools }, renameTools, rule });
  const context = { ...contextFor({ tools }), toolNames };
  const sent = toolNames!.toSent(long);
  const response = {
    id: 'resp_1',
    output: [],
    tools: [{ ...tools[0], name: sent }],
    tool_choice: { type: 'function', name: sent },
  };
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: sent, arguments: '' };
  const done = { ...item, arguments: '{}' };
  const frames = runPipe(relayStream(context), [
    sseEvent('response.created', { response }),
    sseEvent('response.output_item.added', { output_index: 0, item }),
    sseEvent('response.function_call_arguments.done', {
      item_id: 'fc_1',
      output_index: 0,
      name: sent,
      arguments: '{}',
    }),
    sseEvent('response.output_item.done', { output_index: 0, item: done }),
    sseEvent('response.completed', {
      response: { ...response, status: 'completed', output: [done] },
    }),
  ]);
  assert.ok(payloadsOf(frames).length >= 5);
  assert.ok(!frames.includes(sent), frames);
  assert.equal(frames.split(`"name":"${long}"`).length - 1, 8);
});
