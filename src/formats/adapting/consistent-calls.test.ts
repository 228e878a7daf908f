import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  callPart,
  resultPart,
  textPart,
  userTurn,
} from '../../../tests/support/canonical/parts.ts';
import { collect } from '../../../tests/support/canonical/answers.ts';
import { leastCpuMsOf } from '../../../tests/support/cpu-time.ts';
import { canonicalRequest } from '../../../tests/support/formats/gemini.ts';
import { eventsOf, type Answer } from '../../canonical/answer.ts';
import { keepCallsConsistent, separateCalls } from './consistent-calls.ts';
import type { Stop } from '../../canonical/stop.ts';
import type { Message, ToolCallPart } from '../../canonical/request.ts';

const call = (id: string): ToolCallPart => callPart(id, 'look');
const answerOf = (ids: readonly string[], reason: Stop['reason']): Answer => ({
  content: [textPart('Hm.'), ...ids.map(call)],
  stop: { reason, sequence: null },
  usage: null,
});

const makeConsistent = (answer: Answer): Answer =>
  collect([...eventsOf(answer)].map(keepCallsConsistent()))!;

function consistent(answer: Answer): { ids: string[]; reason: Stop['reason'] } {
  const { content, stop } = makeConsistent(answer);
  const ids = content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []));
  return { ids, reason: stop.reason };
}

test('calls with the same id get different ids, and other ids are kept', () => {
  assert.deepEqual(
    consistent(answerOf(['a', 'b', 'a', 'a_2', 'a'], 'tool-calls')).ids,
    'a b a_2 a_2_2 a_3'.split(' '),
  );
});

test('the time for calls with the same id grows about linearly', () => {
  const idsOf = (count: number) => answerOf(Array<string>(count).fill('a'), 'tool-calls');
  const [few, many] = [idsOf(1_500), idsOf(15_000)];
  const short = leastCpuMsOf(() => makeConsistent(few));
  const long = leastCpuMsOf(() => makeConsistent(many));
  // A search for a free id that starts over each time took about ten seconds.
  assert.ok(long < 500 || long < short * 40, `${short} ms, then ${long} ms`);
});

test('a call without an id gets one', () => {
  const { ids } = consistent(answerOf(['', ''], 'tool-calls'));
  assert.match(ids.join(' '), /^call_\w{26} call_\w{26}$/);
  assert.notEqual(ids[0], ids[1]);
});

test('the stop reason is tool calls if and only if there are calls', () => {
  assert.equal(consistent(answerOf([], 'tool-calls')).reason, 'end');
  for (const reason of ['end', 'stop-sequence', 'pause', 'tool-calls'] as const) {
    assert.equal(consistent(answerOf(['a'], reason)).reason, 'tool-calls');
  }
});

test('a cut or refused answer keeps its stop reason, with or without calls', () => {
  for (const reason of ['length', 'content-filter', 'refusal'] as const) {
    assert.equal(consistent(answerOf(['a'], reason)).reason, reason);
    assert.equal(consistent(answerOf([], reason)).reason, reason);
  }
});

const callsOf = (...ids: string[]): Message => ({ role: 'assistant', content: ids.map(call) });
const resultsOf = (...ids: string[]): Message => ({
  role: 'tool',
  content: ids.map((callId) => resultPart(callId)),
});

test('calls with the same id, in one turn or several, get different ids and their own results', () => {
  const ask = userTurn('Hi');
  const messages = [
    ask,
    callsOf('a', 'a', 'b'),
    resultsOf('a', 'b', 'a'),
    callsOf('a'),
    resultsOf('a', 'a'),
    resultsOf('c'),
  ];
  const separate = separateCalls(canonicalRequest({ messages }));
  assert.deepEqual(separate.messages, [
    ask,
    callsOf('a', 'a_2', 'b'),
    resultsOf('a', 'b', 'a_2'),
    callsOf('a_3'),
    resultsOf('a_3', 'a_3'),
    resultsOf('c'),
  ]);
  assert.equal(separateCalls(separate), separate);
});
