import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import { assertRefused } from '../../../tests/support/assert-refused.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { UpstreamTarget } from '../format.ts';
import { requestFor, simpleRequest } from '../../../tests/support/formats/chat.ts';
import { relayRequest } from './relay-request.ts';

const target: UpstreamTarget = {
  model: 'upstream-model',
  stream: false,
  maxOutputTokens: 100,
  thinking: true,
  isOpenAi: false,
};

function relay(fields: JsonObject, changes: Partial<UpstreamTarget> = {}) {
  return relayRequest(requestFor(fields), { ...target, ...changes });
}

test('`developer` becomes `system`, except for OpenAI', () => {
  const messages = [
    { role: 'developer', content: 'Be brief.', name: 'ops' },
    ...simpleRequest.messages,
    { role: 'developer', content: 'x' },
  ];
  assert.deepEqual(
    (relay({ messages }).body.messages as JsonObject[]).map(({ role }) => role),
    ['system', 'user', 'system'],
  );
  assert.deepEqual((relay({ messages }).body.messages as JsonObject[])[0], {
    role: 'system',
    content: 'Be brief.',
    name: 'ops',
  });
  assert.deepEqual(relay({ messages }, { isOpenAi: true }).body.messages, messages);
});

test('empty stop sequences are left out', () => {
  assert.deepEqual(relay({ stop: ['', 'END', '\n'] }).body.stop, ['END', '\n']);
  for (const stop of ['', [], ['', '']])
    assert.ok(!('stop' in relay({ stop }).body), JSON.stringify(stop));
  assert.equal(relay({ stop: 'END' }).body.stop, 'END');
});

test('tools, calls and choices without a type are sent with it', () => {
  const call = { id: 'c', function: { name: 'f', arguments: '{}' } };
  const fields = {
    tools: [
      { function: { name: 'f' } },
      { custom: { name: 'g' } },
      { type: null, function: { name: 'h' } },
    ],
    tool_choice: { function: { name: 'f' } },
    messages: [
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ],
  };
  const { body } = relay(fields);
  assert.deepEqual(
    (body.tools as JsonObject[]).map(({ type }) => type),
    ['function', 'custom', 'function'],
  );
  assert.deepEqual(body.tool_choice, { type: 'function', function: { name: 'f' } });
  assert.deepEqual((body.messages as JsonObject[])[0], {
    role: 'assistant',
    tool_calls: [{ type: 'function', ...call }],
  });
});

test('streams always ask for usage, and keep the client’s other options', () => {
  const streamed = relay(
    { stream: true, stream_options: { include_obfuscation: false } },
    { stream: true },
  ).body;
  assert.equal(streamed.stream, true);
  assert.deepEqual(streamed.stream_options, { include_obfuscation: false, include_usage: true });
  assert.deepEqual(relay({ stream: true }, { stream: true }).body.stream_options, {
    include_usage: true,
  });
  assert.ok(!('stream_options' in relay({ stream: false, stream_options: {} }).body));
});

test('nothing is stored: store becomes false, metadata is removed, and both are listed', () => {
  const { body, ignored } = relay({ store: true, metadata: { a: 'b' } });
  assert.equal(body.store, false);
  assert.ok(!('metadata' in body));
  assert.deepEqual(ignored, ['store', 'metadata']);
  assert.ok(!('store' in relay({}).body));
  assert.deepEqual(relay({ store: false, metadata: null }).ignored, []);
});

const part = (fields: object) => ({
  messages: [{ role: 'user', content: [textPart('x'), fields] }],
});
const refused: [param: string, fields: JsonObject][] = [
  ['service_tier', { service_tier: 'scale' }],
  ['service_tier', { service_tier: 'batch' }],
  ['web_search_options', { web_search_options: {} }],
  ['audio', { audio: { voice: 'ash', format: 'wav' } }],
  ['modalities', { modalities: ['text', 'audio'] }],
  ['prompt_cache_options.ttl', { prompt_cache_options: { ttl: '12h' } }],
  ['moderation', { moderation: { model: 'm' } }],
  ['priority', { priority: -1 }],
  ['cache_control.ttl', { cache_control: { type: 'ephemeral', ttl: '1h' } }],
  ['models', { models: ['a', 'b'] }],
  ['provider', { provider: { order: ['x'] } }],
  ['plugins', { plugins: [{ id: 'web' }] }],
  ['search_parameters', { search_parameters: { mode: 'on' } }],
  ['enable_search', { enable_search: true }],
  ['best_of', { best_of: 20 }],
  ['use_beam_search', { use_beam_search: true }],
  ['deferred', { deferred: true }],
  [
    'tools[1].type',
    {
      tools: [{ type: 'function', function: { name: 'f' } }, { type: 'web_search' }],
      tool_choice: { type: 'web_search' },
    },
  ],
  [
    'tools[0].cache_control.ttl',
    { tools: [{ type: 'function', function: { name: 'f' }, cache_control: { ttl: '1h' } }] },
  ],
  ['messages[0].content[1].file.file_id', part({ type: 'file', file: { file_id: 'file-1' } })],
  [
    'messages[0].content[1].cache_control.ttl',
    part({ type: 'text', text: '', cache_control: { type: 'ephemeral', ttl: '1h' } }),
  ],
  [
    'messages[0].content[1].prompt_cache_breakpoint.ttl',
    part({ type: 'text', text: '', prompt_cache_breakpoint: { ttl: '12h' } }),
  ],
  ['messages[0].audio', { messages: [{ role: 'assistant', audio: { id: 'audio_1' } }] }],
];

for (const [param, fields] of refused) {
  test(`refused on the shared credential: ${param} in ${JSON.stringify(fields)}`, () => {
    assertRefused(() => relay(fields), param);
  });
}

test('the ordinary values of restricted fields pass', () => {
  const fields = {
    modalities: ['text'],
    prompt_cache_options: { mode: 'explicit', ttl: '30m' },
    enable_search: false,
    best_of: 1,
    tools: [
      { type: 'function', function: { name: 'f' } },
      { type: 'custom', custom: { name: 'c' } },
    ],
    messages: [
      {
        role: 'user',
        content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } }],
      },
    ],
  };
  const [, custom] = fields.tools;
  const parameters = { type: 'object', properties: {} };
  assert.deepEqual(relay({ ...fields, audio: null }).body, {
    ...fields,
    tools: [{ type: 'function', function: { name: 'f', parameters } }, custom],
    model: 'upstream-model',
    max_tokens: 100,
  });
});

test('reasoning and images of earlier answers are left out and listed where the host refuses them', () => {
  const user = { role: 'user', content: 'x' };
  const details = [{ a: 1 }];
  const reasoning = { reasoning_content: 'a', reasoning: 'b', reasoning_details: details, images };
  const answer = { role: 'assistant', content: 'y' };
  const messages = [user, { ...answer, ...reasoning }];
  const sent = (changes: Partial<UpstreamTarget>) => {
    const { body, ignored } = relay({ messages }, changes);
    const [, last] = JSON.parse(JSON.stringify(body.messages)) as JsonObject[];
    return [last, ignored];
  };
  assert.deepEqual(sent({}), [{ ...answer, ...reasoning }, []]);
  assert.deepEqual(sent({ isOpenAi: true }), [answer, Object.keys(reasoning)]);
  const { reasoning: kept } = reasoning;
  const refusedHistory = ['reasoning_content', 'reasoning_details'];
  assert.deepEqual(sent({ refusedHistory }), [
    { ...answer, reasoning: kept, images },
    refusedHistory,
  ]);
});

const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }];

test('an answer without content, as of images alone or emptied by a filter, goes back as an empty text', () => {
  for (const answer of [{}, { images }, { reasoning_content: 'a' }, { tool_calls: [] }]) {
    const earlier = { role: 'assistant', content: null, refusal: null, ...answer };
    const messages = [{ role: 'user', content: 'x' }, earlier];
    for (const isOpenAi of [true, false]) {
      const { body } = relay({ messages }, { isOpenAi });
      assert.equal((body.messages as JsonObject[])[1]!.content, '');
    }
  }
});

test('refusals and annotations of earlier answers are not sent where the host refuses them', () => {
  const refusedHistory = ['refusal', 'annotations'];
  const sent = (message: object) => {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', ...message },
    ];
    const { body, ignored } = relay({ messages }, { refusedHistory });
    const [, { role: _, ...last } = {}] = JSON.parse(JSON.stringify(body.messages)) as JsonObject[];
    return [last, ignored];
  };
  const empty = { refusal: null, annotations: [] };
  assert.deepEqual(sent({ content: 'y', ...empty }), [{ content: 'y' }, []]);
  assert.deepEqual(sent({ content: null, refusal: 'No.' }), [{ content: 'No.' }, []]);
  const annotations = [{ type: 'url_citation' }];
  assert.deepEqual(sent({ content: 'y', annotations }), [{ content: 'y' }, ['annotations']]);
});

test('marks of Anthropic’s cache are left out for OpenAI itself, and kept for other hosts', () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const content = [{ type: 'text', text: 'x', ...mark }];
  const tools = [{ type: 'function', function: { name: 'f', parameters: {}, ...mark }, ...mark }];
  const given = { messages: [{ role: 'user', content, ...mark }], tools };
  const kept = relay(given, { isOpenAi: false });
  assert.equal(JSON.stringify(kept.body).split('"cache_control"').length - 1, 4);
  const { body, ignored } = relay(given, { isOpenAi: true });
  assert.doesNotMatch(JSON.stringify(body), /cache_control/);
  assert.deepEqual([...new Set(ignored)], ['cache_control']);
});

test('Google’s signature of a call is left out and listed for other models', () => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const signed = { ...call, extra_content: { google: { thought_signature: 's' } } };
  const result = { role: 'tool', tool_call_id: 'a', content: 'x' };
  const messages = [{ role: 'assistant', tool_calls: [signed] }, result];
  const { body, ignored } = relay({ messages });
  assert.deepEqual(body.messages, [{ role: 'assistant', tool_calls: [call] }, result]);
  assert.deepEqual(ignored, ['extra_content']);
  assert.deepEqual(relay({ messages }, { model: 'gemini-3-pro' }).ignored, []);
});
