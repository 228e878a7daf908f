import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasTokens } from '../run-chat.ts';
import { chatFormats } from './registry.ts';
import { readBody } from './read-body.ts';
import { readKept } from './read-kept.ts';
import { defaultSettings, noAnswer, type ChatRequest } from './types.ts';

const { responses, chat, messages, gemini } = chatFormats;

test('reasoning counts as the first token in every format', () => {
  const thought = { choices: [{ delta: { reasoning_content: 'Hm' } }] };
  const thinking = { delta: { type: 'thinking_delta', thinking: 'Hm' } };
  const started = messages.readEvent(noAnswer, 'content_block_start', {
    content_block: { type: 'thinking', thinking: '' },
  });
  assert.ok(
    hasTokens(responses.readEvent(noAnswer, 'response.reasoning_text.delta', { delta: 'Hm' })),
  );
  assert.ok(hasTokens(chat.readEvent(noAnswer, '', thought)));
  assert.ok(hasTokens(messages.readEvent(started, 'content_block_delta', thinking)));
  const empty = { choices: [{ delta: { role: 'assistant', content: '' } }] };
  assert.ok(!hasTokens(chat.readEvent(noAnswer, '', empty)));
});

test('a signed thought of Messages goes back unchanged, before the call that it led to', () => {
  const events: readonly (readonly [string, object])[] = [
    ['content_block_start', { content_block: { type: 'thinking', thinking: '', signature: '' } }],
    ['content_block_delta', { delta: { type: 'thinking_delta', thinking: 'Paris' } }],
    ['content_block_delta', { delta: { type: 'signature_delta', signature: 'c2ln' } }],
    ['content_block_stop', {}],
    [
      'content_block_start',
      { content_block: { type: 'tool_use', id: 'c1', name: 'w', input: {} } },
    ],
    ['content_block_delta', { delta: { type: 'input_json_delta', partial_json: '{"city":' } }],
    ['content_block_delta', { delta: { type: 'input_json_delta', partial_json: '"Paris"}' } }],
    ['content_block_stop', {}],
    ['message_delta', { delta: { stop_reason: 'tool_use' } }],
  ];
  let answer = noAnswer;
  for (const [event, data] of events) answer = messages.readEvent(answer, event, data);
  assert.deepEqual(answer.calls, [{ id: 'c1', name: 'w', arguments: '{"city":"Paris"}' }]);
  assert.deepEqual(answer.echo, [
    { type: 'thinking', thinking: 'Paris', signature: 'c2ln' },
    { type: 'tool_use', id: 'c1', name: 'w', input: { city: 'Paris' } },
  ]);
});

test('code that Google ran, and what came of it, are shown and counted', () => {
  const parts = [
    { executableCode: { code: 'print(2)' } },
    { codeExecutionResult: { output: '2\n' } },
    { text: 'Two.' },
  ];
  const usageMetadata = {
    promptTokenCount: 10,
    toolUsePromptTokenCount: 25,
    candidatesTokenCount: 4,
  };
  const answer = gemini.readAnswer({ candidates: [{ content: { parts } }], usageMetadata });
  assert.equal(answer.text, '\n```\nprint(2)\n```\n\n```\n2\n```\nTwo.');
  assert.deepEqual([answer.inputTokens, answer.outputTokens], [35, 4]);
  assert.deepEqual(answer.echo, parts);
});

test('an answer of one format is rewritten for another', () => {
  const call = { id: 'c1', name: 'w', arguments: '{"city":"Paris"}' };
  const request: ChatRequest = {
    ...defaultSettings,
    model: 'm',
    messages: [
      { role: 'assistant', format: 'messages', text: 'Look:', calls: [call], echo: [{ own: 1 }] },
      { role: 'tool', results: [{ callId: 'c1', output: '7' }] },
    ],
  };
  assert.deepEqual(chat.writeBody(request)['messages'], [
    {
      role: 'assistant',
      content: 'Look:',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'w', arguments: call.arguments } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '7' },
  ]);
  assert.deepEqual(responses.writeBody(request)['input'], [
    { role: 'assistant', content: 'Look:' },
    { type: 'function_call', call_id: 'c1', name: 'w', arguments: call.arguments },
    { type: 'function_call_output', call_id: 'c1', output: '7' },
  ]);
  assert.deepEqual(messages.writeBody(request)['messages'], [
    { role: 'assistant', content: [{ own: 1 }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '7' }] },
  ]);
});

const weather = { name: 'w', description: 'Weather.', parameters: { type: 'object' } };
const picture = { kind: 'image', name: 'file', mediaType: 'image/png', data: 'AAAA' } as const;
const asked: ChatRequest = {
  ...defaultSettings,
  model: 'm',
  system: 'Be brief.',
  maxTokens: 50,
  temperature: 0.5,
  effort: 'low',
  tools: [weather],
  toolChoice: { name: 'w' },
  schema: { name: 'answer', schema: { type: 'object' }, strict: true },
  messages: [
    {
      role: 'user',
      text: 'Look',
      attachments: [picture, { kind: 'link', media: 'image', url: 'https://example.com/a.png' }],
    },
    {
      role: 'assistant',
      format: 'chat',
      text: 'I ask.',
      calls: [
        { id: 'c1', name: 'w', arguments: '{"city":"Paris"}' },
        { id: 'c2', name: 'w', arguments: '{"city":"Rome"}' },
      ],
      echo: [],
    },
    {
      role: 'tool',
      results: [
        { callId: 'c1', output: '7', attachments: [] },
        { callId: 'c2', output: '<script>', attachments: [] },
      ],
    },
    { role: 'user', text: 'And now?', attachments: [] },
  ],
};

for (const format of Object.values(chatFormats)) {
  test(`a request of the ${format.name} format is read as it was written`, () => {
    const body = format.writeBody(asked);
    const {
      messages: [first, ...rest],
      ...settings
    } = readBody(format, body);
    assert.deepEqual(first, { role: 'system', text: 'Be brief.' });
    assert.equal(rest.length, asked.messages.length);
    assert.deepEqual(rest.map(shown), asked.messages.map(shown));
    const { messages: _, system: __, ...expected } = asked;
    assert.deepEqual({ ...settings, system: undefined }, { ...expected, system: undefined });
  });

  test(`a body that is no ${format.name} request is read as an empty one`, () => {
    for (const body of [
      {},
      { messages: [null, 7, { role: 'assistant' }], input: [{ type: 'x' }, 1] },
    ])
      assert.equal(readBody(format, body).model, '');
  });
}

/** Returns the parts of a message that every format has. */
function shown(message: ReturnType<typeof readBody>['messages'][number]) {
  switch (message.role) {
    case 'assistant':
      return [message.text, message.calls];
    case 'tool':
      return message.results;
    default:
      return message;
  }
}

test('a kept stream is read as far as it goes, and a refusal as its error', () => {
  const frame = (text: string) => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`;
  const kept = (text: string, streamed: boolean) =>
    readKept(chat, {
      request: { text: '{"mod', cut: true, bytes: 9 },
      answer: { text, cut: false, bytes: 9 },
      streamed,
    });
  assert.equal(kept(`${frame('Hel')}${frame('lo')}data: {"cho`, true).answer?.text, 'Hello');
  const refused = kept('{"error":{"code":"bad","message":"No."}}', false);
  assert.deepEqual(refused.answer?.error, { code: 'bad', message: 'No.' });
  assert.equal(refused.request, null);
});
