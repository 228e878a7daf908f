import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import type { JsonObject } from '../../lib/json.ts';
import { requestFor, target } from '../../../tests/support/formats/responses.ts';
import { relayRequest } from './relay-request.ts';
import { toolPlaces } from './shared-credential.ts';

const sdkTypes = readFileSync(
  new URL('../../../node_modules/openai/resources/responses/responses.d.ts', import.meta.url),
  'utf8',
);

test('the table knows where every tool of the official SDK runs', () => {
  const union = /^export type Tool = (.*);$/m.exec(sdkTypes)?.[1]?.split(' | ') ?? [];
  const types = union.flatMap((name) => typesOf(name.replace('Tool.', '')));
  assert.ok(
    union.length >= 16 && types.length >= union.length,
    `${union.length} tools, ${types.length} types`,
  );
  assert.deepEqual(Object.keys(toolPlaces).toSorted(), types.toSorted());
});

test('a refusal names the field and the reason', async (t) => {
  const file = { type: 'input_file', file_id: 'file-1' };
  const item = (fields: object) => ({ input: [fields] });
  const part = (fields: object) => item({ role: 'user', content: [fields] });
  const breakpoint = { mode: 'explicit', ttl: '12h' };
  const screenshot = { type: 'computer_screenshot', file_id: 'file-1' };
  const refused: readonly (readonly [object, string, RegExp])[] = [
    [{ background: true }, 'background', /keeps the response at the provider/],
    [{ conversation: 'conv_1' }, 'conversation', /send the whole conversation/],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt', /stored at the provider/],
    [{ moderation: { model: 'm' } }, 'moderation', /no price/],
    [{ service_tier: 'scale' }, 'service_tier', /no price/],
    [{ service_tier: 'batch' }, 'service_tier', /`flex`/],
    [{ reasoning: { mode: 'pro' } }, 'reasoning.mode', /not priced/],
    [{ prompt_cache_options: { ttl: '12h' } }, 'prompt_cache_options.ttl', /not priced/],
    [{ prompt_cache_options: { prewarm: true } }, 'prompt_cache_options.prewarm', /not priced/],
    [
      { prompt_cache_options: { comparison_response_id: 'resp_1' } },
      'prompt_cache_options.comparison_response_id',
      /kept at the provider/,
    ],
    [part(file), 'input[0].content[0].file_id', /file_data/],
    [
      part({ type: 'input_image', file_id: 'file-1' }),
      'input[0].content[0].file_id',
      /kept at the provider/,
    ],
    [
      part({ type: 'input_text', text: 'x', prompt_cache_breakpoint: breakpoint }),
      'input[0].content[0].prompt_cache_breakpoint.ttl',
      /not priced/,
    ],
    [
      item({ type: 'function_call_output', call_id: 'c', output: [file] }),
      'input[0].output[0].file_id',
      /kept at/,
    ],
    [
      item({ type: 'configuration_update', reasoning: { mode: 'pro' } }),
      'input[0].reasoning.mode',
      /not priced/,
    ],
    [
      item({ type: 'image_generation_call', id: 'ig_1' }),
      'input[0].result',
      /kept at the provider/,
    ],
    [
      item({ type: 'compaction', id: 'cmp_1' }),
      'input[0].encrypted_content',
      /kept at the provider/,
    ],
    [
      item({ type: 'file_search_call', id: 'fs_1', queries: [] }),
      'input[0].type',
      /file search at the provider/,
    ],
    [
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'file_search' }] }] },
      'tools[0].tools[0].type',
      /runs at the provider/,
    ],
    [
      item({ type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1' }),
      'input[0].container_id',
      /a container/,
    ],
    [
      item({ type: 'computer_call_output', call_id: 'c', output: screenshot }),
      'input[0].output.file_id',
      /a file/,
    ],
    [
      {
        ...item({ type: 'additional_tools', role: 'developer', tools: [{ type: 'web_search' }] }),
        tool_choice: 'required',
      },
      'input[0].tools[0].type',
      /not priced/,
    ],
    [
      { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
      'tools[0].type',
      /runs at the provider/,
    ],
    [{ tools: [{ type: 'tool_search' }] }, 'tools[0].type', /runs at the provider/],
    [
      { tools: [{ type: 'something_new' }], tool_choice: 'required' },
      'tools[0].type',
      /"something_new" runs at the provider and is not priced/,
    ],
    ...Object.keys(toolPlaces)
      .filter((type) => toolPlaces[type] === 'provider')
      .map(
        (type) =>
          [
            { tools: [{ type: 'function', name: 'f' }, { type }], tool_choice: { type } },
            'tools[1].type',
            /not priced/,
          ] as const,
      ),
  ];
  for (const [fields, param, message] of refused) {
    await t.test(JSON.stringify(fields).slice(0, 100), () => {
      assertRefused(() => relayRequest(requestFor({ ...fields }), target), param, message);
    });
  }
});

test('values pass that run at the caller, cost nothing or ask for nothing', () => {
  const fields = {
    background: false,
    conversation: null,
    service_tier: 'auto',
    reasoning: { mode: 'standard' },
    prompt_cache_options: { ttl: '30m', mode: 'explicit' },
    tools: [
      {
        type: 'function',
        name: 'f',
        parameters: { type: 'object', properties: { file_id: { type: 'string' } } },
      },
      { type: 'namespace', name: 'n', description: '', tools: [] },
      { type: 'tool_search', execution: 'client' },
      { type: 'shell', environment: { type: 'local' } },
      { type: 'local_shell' },
      { type: 'apply_patch' },
    ],
    input: [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"file_id":"x"}' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
      {
        role: 'user',
        content: [{ type: 'input_file', file_url: 'https://a.b/c.pdf', file_id: null }],
      },
    ],
  };
  const { body, ignored } = relayRequest(requestFor(fields), target);
  assert.deepEqual(ignored, []);
  assert.deepEqual(body.tools, fields.tools);
  assert.deepEqual(body.input, fields.input);
});

/** The literals of a tool's `type`: the first field of that name. */
function typesOf(name: string): string[] {
  const start = sdkTypes.search(new RegExp(`interface ${name} \\{`));
  assert.notEqual(start, -1, name);
  const literals = /^ {4,8}type: (.*);$/m.exec(sdkTypes.slice(start))?.[1] ?? '';
  return [...literals.matchAll(/'(\w+)'/g)].map((match) => match[1]!);
}

test('names that every object has are unknown, as a field of an item and as its type', () => {
  const item = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
  const write = (changes: JsonObject) => () =>
    relayRequest(requestFor({ input: [{ ...item, ...changes }] }), {
      ...target,
      unknown: { areRefused: true },
    });
  assert.throws(
    write({ constructor: 'Fiat' }),
    /^Error: input\[0\]\.constructor is an unknown field/,
  );
  assert.throws(
    write({ type: 'constructor' }),
    /^Error: input\[0\]\.type "constructor" is an unknown kind of content/,
  );
});
