import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBody } from '../../../api/chat-formats/read-body.ts';
import { chatFormats } from '../../../api/chat-formats/registry.ts';
import { messagesOf, requestOf } from './conversation.ts';
import { readDraft } from './draft.ts';
import { beginningOf, fieldsLeftOut } from './from-request.ts';

const { chat } = chatFormats;
const call = { id: 'c1', type: 'function', function: { name: 'w', arguments: '{}' } };
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'One' },
  { role: 'user', content: 'Two' },
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'c1', content: '7' },
  { role: 'developer', content: 'Be kind.' },
  { role: 'assistant', content: 'Seven.' },
  { role: 'user', content: 'Three' },
];
const tools = [{ type: 'function', function: { name: 'w', parameters: { type: 'object' } } }];
const begin = (count: number) =>
  beginningOf(readBody(chat, { model: 'm', tools, messages: messages.slice(0, count) }), chat);

test('a request becomes turns, and its last question waits to be sent', () => {
  const { turns, text, draft } = begin(8);
  assert.equal(text, 'Three');
  assert.equal(draft.system, 'Be brief.\n\nBe kind.');
  const read = readDraft(draft);
  assert.ok('settings' in read);
  assert.equal(read.settings.tools[0]?.name, 'w');
  const sent = messagesOf(turns, 0);
  const { messages: written } = chat.writeBody({
    ...read.settings,
    system: '',
    model: 'm',
    messages: sent,
  });
  assert.deepEqual(written, [
    { role: 'user', content: 'One\n\nTwo' },
    ...[3, 4, 6].map((index) => messages[index]),
  ]);
});

test('results at the end wait too, and are not sent yet', () => {
  const { turns, text } = begin(5);
  assert.equal(text, '');
  const step = turns[0]!.replies[0]!.steps[0]!;
  assert.equal(step.results, null);
  assert.deepEqual(
    step.drafted?.map(({ output }) => output),
    ['7'],
  );
  assert.equal(requestOf(turns, { turn: 1, column: 0, step: 0 }).messages.length, 1);
});

test('fields that the playground does not send are named', () => {
  const body = { model: 'm', messages: [], max_tokens: 5, stream: false, tool_choice: 'auto' };
  assert.deepEqual(fieldsLeftOut(body, chat), []);
  assert.deepEqual(fieldsLeftOut({ ...body, top_p: 1, tools: [...tools, { type: 'x' }] }, chat), [
    'top_p',
    'tools',
  ]);
});
