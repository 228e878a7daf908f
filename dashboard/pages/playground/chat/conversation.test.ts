import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../api/api-error.ts';
import { defaultSettings, noAnswer } from '../../../api/chat-formats/types.ts';
import { noProgress } from '../../../api/run-chat.ts';
import {
  addStep,
  earlierResults,
  fromKept,
  messagesOf,
  removeColumn,
  requestOf,
  toKept,
  type Step,
  type Turn,
} from './conversation.ts';

function step(text: string, fields: Partial<Step> = {}): Step {
  return {
    model: 'm',
    progress: { ...noProgress, answer: { ...noAnswer, text } },
    state: 'complete',
    error: null,
    results: null,
    ...fields,
  };
}

function turn(id: number, replies: readonly (readonly Step[])[]): Turn {
  return {
    id,
    text: `Question ${id}`,
    attachments: [],
    format: 'chat',
    settings: defaultSettings,
    replies: replies.map((steps, column) => ({ column, steps })),
  };
}

const call = { id: 'c1', name: 'weather', arguments: '{}' };
const calling = step('', {
  progress: { ...noProgress, answer: { ...noAnswer, calls: [call], echo: [{ own: 1 }] } },
});
const results = [{ callId: 'c1', output: '7' }];
const failed = step('', {
  state: 'failed',
  error: new ApiError({ status: 503, code: 'x', message: 'No.' }),
});

test('each model gets its own answers back', () => {
  const turns = [turn(1, [[step('one')], [step('other')]]), turn(2, [[step('')], [step('')]])];
  const textsOf = (column: number) =>
    requestOf(turns, { turn: 2, column, step: 0 }).messages.map((message) =>
      message.role === 'tool' ? '' : message.text,
    );
  assert.deepEqual(textsOf(0), ['Question 1', 'one', 'Question 2']);
  assert.deepEqual(textsOf(1), ['Question 1', 'other', 'Question 2']);
});

test('a turn that failed is left out of the later ones', () => {
  assert.deepEqual(messagesOf([turn(1, [[failed]])], 0), []);
  assert.deepEqual(messagesOf([turn(1, [[{ ...calling, results }, failed]])], 0), []);
});

test('tool results follow their call; a call without results is not sent again', () => {
  const turns = addStep([turn(1, [[{ ...calling, results }]])], { turn: 1, column: 0 }, step(''));
  assert.deepEqual(requestOf(turns, { turn: 1, column: 0, step: 1 }).messages.slice(1), [
    { role: 'assistant', format: 'chat', text: '', calls: [call], echo: [{ own: 1 }] },
    { role: 'tool', results },
  ]);
  assert.deepEqual(messagesOf([turn(1, [[calling]])], 0)[1], {
    role: 'assistant',
    format: 'chat',
    text: '(no answer)',
    calls: [],
    echo: [],
  });
  assert.deepEqual(earlierResults(turns, 'weather'), ['7']);
  assert.deepEqual(earlierResults(turns, 'other'), []);
});

test('removing a model keeps the replies of the others', () => {
  const [left] = removeColumn([turn(1, [[step('a')], [step('b')], [step('c')]])], 1);
  assert.deepEqual(
    left!.replies.map(({ column, steps }) => [column, steps[0]!.progress.answer.text]),
    [
      [0, 'a'],
      [1, 'c'],
    ],
  );
  assert.deepEqual(removeColumn([turn(1, [[step('a')]])], 0), []);
});

test('a stored conversation comes back with its errors, and a running answer as stopped', () => {
  const turns = [turn(1, [[failed], [step('half', { state: 'running' })]])];
  const [back] = fromKept(structuredClone(toKept(turns)));
  const [first, second] = back!.replies.map(({ steps }) => steps[0]!);
  assert.ok(first!.error instanceof ApiError);
  assert.deepEqual([first!.error.message, first!.error.status], ['No.', 503]);
  assert.equal(second!.state, 'stopped');
});

test('of a conversation that is too large, the newest turns are stored', () => {
  const file = {
    kind: 'image',
    name: 'a.png',
    mediaType: 'image/png',
    data: 'x'.repeat(5_000),
  } as const;
  const turns = [1, 2, 3].map((id) => ({ ...turn(id, [[step('a')]]), attachments: [file] }));
  assert.deepEqual(
    toKept(turns, 12_000).map(({ id }) => id),
    [2, 3],
  );
});
