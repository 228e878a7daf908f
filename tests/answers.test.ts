// Checks our own upstream answers against their index: each part of an answer is one line of
// `reads`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerCollector, type Answer } from '../src/canonical/answer.ts';
import type { Citation } from '../src/canonical/citation.ts';
import type { StreamEvent } from '../src/canonical/event.ts';
import type { AssistantPart, Signature } from '../src/canonical/request.ts';
import { readErrorMessage } from '../src/formats/error-message.ts';
import { UnreadableAnswer } from '../src/formats/format.ts';
import { upstreamFormats } from '../src/formats/registry.ts';
import { SseParser } from '../src/lib/sse.ts';
import { ownAnswers, type Recording } from './support/recordings.ts';

for (const answer of ownAnswers) {
  test(`${answer.file}: ${answer.about}`, () => {
    assert.deepEqual(answer.stream ? readStream(answer) : readWhole(answer), answer.reads);
  });
}

function readWhole({ format, status, bytes }: Recording): string[] {
  const body = JSON.parse(bytes.toString('utf8')) as unknown;
  if (status !== 200) return [`message: ${readErrorMessage(body)}`];
  try {
    return describeAnswer(upstreamFormats[format].readAnswer(body));
  } catch (error) {
    assert.ok(error instanceof UnreadableAnswer);
    return [`unreadable: ${error.message}`];
  }
}

function readStream({ format, bytes }: Recording): string[] {
  const parser = new SseParser();
  const reader = upstreamFormats[format].readStream();
  const read = [...parser.push(bytes), ...parser.end()].flatMap((event) => reader.push(event));
  return describeEvents([...read, ...reader.end()]);
}

function describeEvents(events: readonly StreamEvent[]): string[] {
  const collector = new AnswerCollector();
  for (const event of events) collector.push(event);
  const last = events.at(-1);
  if (last?.type !== 'error') return describeAnswer(collector.answer!);
  const { kind, status, message } = last.failure;
  return [`failure: ${status ?? kind} ${message}`];
}

function describeAnswer({ content, stop, usage }: Answer): string[] {
  const counts = Object.entries(usage ?? {}).flatMap(([name, count]) =>
    name !== 'tier' && Number(count) > 0 ? [`${name} ${count}`] : [],
  );
  return [
    ...content.flatMap(describePart),
    `stop: ${stop.reason}${stop.sequence === null ? '' : ` at ${JSON.stringify(stop.sequence)}`}`,
    `usage: ${usage ? counts.join(', ') || 'nothing was used' : 'none'}`,
  ];
}

function describePart(part: AssistantPart): string[] {
  switch (part.type) {
    case 'text':
      return [`text: ${part.text}`, ...(part.citations ?? []).map(describeCitation)];
    case 'refusal':
      return [`refusal: ${part.text}`];
    case 'image':
      return [`image: ${part.source.kind === 'base64' ? part.source.mediaType : part.source.url}`];
    case 'thinking':
      return [
        `${part.redacted ? 'hidden thinking' : 'thinking'}: ${part.text}`,
        ...describeSignature(part.signature),
      ];
    case 'tool-call':
      return [`${part.kind} call ${withoutNewId(part.id)}: ${part.name} ${part.arguments}`];
  }
}

function describeSignature(signature: Signature | null): string[] {
  return signature ? [`signature: ${signature.vendor} ${signature.value}`] : [];
}

function describeCitation({ type, title, citedText, ...citation }: Citation): string {
  return `citation: ${type} ${JSON.stringify({ title, citedText, ...citation })}`;
}

/** The gateway generates an id for a call without one. */
function withoutNewId(id: string): string {
  return id.replace(/^call_[0-9a-z]{26}$/, 'new');
}
