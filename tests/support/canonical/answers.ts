// Canonical answers and their streams.
import assert from 'node:assert/strict';
import { AnswerCollector, eventsOf, type Answer } from '../../../src/canonical/answer.ts';
import type { StreamEvent } from '../../../src/canonical/event.ts';
import type { AssistantPart } from '../../../src/canonical/request.ts';
import { noUsage } from '../../../src/canonical/usage.ts';

/** A finished answer, which stops because of its calls if it has any. */
export function answerOf(content: readonly AssistantPart[], changes: Partial<Answer> = {}): Answer {
  const reason = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'end';
  return { content, stop: { reason, sequence: null }, usage: noUsage, ...changes };
}

/**
 * Returns the events of an answer, with its texts cut into pieces of at most `size` code points.
 */
export function pieceEvents(answer: Answer, size: number): StreamEvent[] {
  return [...eventsOf(answer)].flatMap((event): StreamEvent[] => {
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
