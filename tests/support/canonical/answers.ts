// Canonical answers and their streams.
import assert from 'node:assert/strict';
import { AnswerCollector, type Answer } from '../../../src/canonical/answer.ts';
import type { StreamEvent } from '../../../src/canonical/event.ts';
import type { AssistantPart } from '../../../src/canonical/request.ts';
import { noUsage } from '../../../src/canonical/usage.ts';

/** A finished answer, which stops because of its calls if it has any. */
export function answerOf(content: readonly AssistantPart[], changes: Partial<Answer> = {}): Answer {
  const reason = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'end';
  return { content, stop: { reason, sequence: null }, usage: noUsage, ...changes };
}

/**
 * Returns the events of a whole answer, one delta per block. `collect(answerEvents(a))` equals `a`.
 */
export function* answerEvents(answer: Answer): Generator<StreamEvent> {
  yield { type: 'start', usage: null };
  for (const part of answer.content) yield* partEvents(part);
  yield { type: 'finish', stop: answer.stop, usage: answer.usage };
}

/**
 * Returns the events of an answer, with its texts cut into pieces of at most `size` code points.
 */
export function pieceEvents(answer: Answer, size: number): StreamEvent[] {
  return [...answerEvents(answer)].flatMap((event): StreamEvent[] => {
    if (!('text' in event)) return [event];
    const points = Array.from(event.text);
    return Array.from({ length: Math.ceil(points.length / size) }, (_, index) => ({
      ...event,
      text: points.slice(index * size, (index + 1) * size).join(''),
    }));
  });
}

/** Returns the answer that the events form; null when the stream has not finished. */
export function collect(events: Iterable<StreamEvent>): Answer | null {
  const collector = new AnswerCollector();
  for (const event of events) collector.push(event);
  return collector.answer;
}

function* partEvents(part: AssistantPart): Generator<StreamEvent> {
  switch (part.type) {
    case 'text':
      yield { type: 'text-start' };
      if (part.text !== '') yield { type: 'text-delta', text: part.text };
      for (const citation of part.citations ?? []) yield { type: 'citation', citation };
      yield { type: 'text-end' };
      return;
    case 'refusal':
      yield { type: 'refusal-start' };
      if (part.text !== '') yield { type: 'refusal-delta', text: part.text };
      yield { type: 'refusal-end' };
      return;
    case 'thinking':
      yield { type: 'thinking-start', redacted: part.redacted };
      if (part.text !== '') yield { type: 'thinking-delta', text: part.text };
      if (part.signature) yield { type: 'thinking-signature', signature: part.signature };
      yield { type: 'thinking-end' };
      return;
    case 'tool-call':
      yield { type: 'tool-call-start', id: part.id, name: part.name, kind: part.kind };
      if (part.arguments !== '') yield { type: 'tool-call-delta', text: part.arguments };
      yield { type: 'tool-call-end' };
      return;
  }
}

/** Returns the kind, status and message of the failure that ends a stream. */
export function failureOf(events: readonly StreamEvent[]): string {
  const last = events.at(-1);
  assert.ok(last?.type === 'error', last?.type);
  const { kind, status, message } = last.failure;
  return `${kind} ${status}: ${message}`;
}

/** Checks that a stream has one start and one end, and that its blocks do not overlap. */
export function checkEvents(events: readonly StreamEvent[]): void {
  const types = events.map(({ type }) => type).join(' ');
  assert.match(
    types.replaceAll(' citation', ''),
    /^start(?: (text|refusal|thinking|tool-call)-start(?: \1-(?:delta|signature))* \1-end)*(?: finish|(?: [\w-]+-start(?: \S+)*)? error)$/,
  );
}
