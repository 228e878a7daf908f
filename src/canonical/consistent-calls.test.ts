import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerEvents, collect } from '../../tests/support/canonical/answers.ts';
import type { Answer } from './answer.ts';
import { keepCallsConsistent, makeCallsConsistent } from './consistent-calls.ts';
import type { Stop } from './event.ts';
import type { ToolCallPart } from './request.ts';

const call = (id: string): ToolCallPart => ({ type: 'tool-call', id, name: 'look', arguments: '{}', kind: 'function' });
const answerOf = (ids: readonly string[], reason: Stop['reason']): Answer => ({
  content: [{ type: 'text', text: 'Hm.' }, ...ids.map(call)],
  stop: { reason, sequence: null },
  usage: null,
});

/** Made consistent whole and as a stream, which must agree. */
function consistent(answer: Answer): { ids: string[]; reason: Stop['reason'] } {
  const whole = makeCallsConsistent(answer);
  const streamed = collect(answerEvents(answer).map(keepCallsConsistent()));
  const withoutNew = (value: Answer | null) => JSON.stringify(value).replaceAll(/call_[0-9a-z]{26}/g, 'new');
  assert.equal(withoutNew(streamed), withoutNew(whole));
  const ids = whole.content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []));
  return { ids, reason: whole.stop.reason };
}

test('calls of one id get ids of their own, and others keep theirs', () => {
  assert.deepEqual(consistent(answerOf(['a', 'b', 'a', 'a_2', 'a'], 'tool-calls')).ids, ['a', 'b', 'a_2', 'a_2_2', 'a_3']);
});

test('a call without an id gets one', () => {
  const { ids } = consistent(answerOf(['', ''], 'tool-calls'));
  assert.match(ids.join(' '), /^call_\w{26} call_\w{26}$/);
  assert.notEqual(ids[0], ids[1]);
});

test('an answer ends for calls if and only if it has some', () => {
  assert.equal(consistent(answerOf([], 'tool-calls')).reason, 'end');
  for (const reason of ['end', 'stop-sequence', 'pause', 'tool-calls'] as const) {
    assert.equal(consistent(answerOf(['a'], reason)).reason, 'tool-calls');
  }
});

test('an answer that was cut off or refused says so, calls or not', () => {
  for (const reason of ['length', 'content-filter', 'refusal'] as const) {
    assert.equal(consistent(answerOf(['a'], reason)).reason, reason);
    assert.equal(consistent(answerOf([], reason)).reason, reason);
  }
});
