// The plain readers by wire format, and a comparison of two readings.
import assert from 'node:assert/strict';
import { readChat } from './chat.ts';
import { readGemini } from './gemini.ts';
import { readMessage, readMessageStream } from './messages.ts';
import { eventsOf, type Json, type Reading, type WireFormatName } from './reading.ts';
import { readResponse, readResponseStream } from './responses.ts';

type Wire = {
  readonly whole: (body: Json) => Reading;
  readonly stream: (events: readonly Json[]) => Reading;
};

const wires: Readonly<Record<WireFormatName, Wire>> = {
  responses: { whole: readResponse, stream: readResponseStream },
  chat: { whole: (body) => readChat([body]), stream: readChat },
  messages: { whole: readMessage, stream: readMessageStream },
  gemini: { whole: (body) => readGemini([body]), stream: readGemini },
};

/** `text`: a whole body or an event stream, as sent over the wire. */
export function readPlainly(wire: WireFormatName, stream: boolean, text: string): Reading {
  return stream ? wires[wire].stream(eventsOf(text)) : wires[wire].whole(JSON.parse(text) as Json);
}

/**
 * Returns what a `client` must read when a provider sent `recorded`. `stop: false` skips the stop
 * reason.
 */
export function assertAgrees(
  received: Reading,
  recorded: Reading,
  client: WireFormatName,
  { stop = true } = {},
): void {
  const { signatures, usage, ...content } = received;
  const { signatures: recordedSignatures, usage: recordedUsage, ...recordedContent } = recorded;
  assert.deepEqual(content, {
    ...recordedContent,
    stop: stop ? stopFor(client, recorded.stop) : received.stop,
  });
  for (const signature of recordedSignatures) {
    assert.ok(
      signatures.some((candidate) => candidate.includes(signature)),
      `the signature ${signature.slice(0, 40)}… is lost`,
    );
  }
  assert.ok(usage, 'the client is shown no usage');
  // If the provider did not count input or output, the client sees the gateway's count.
  const { input = 0, output = 0 } = recordedUsage ?? {};
  if (input > 0 && output > 0) assert.deepEqual(usage, recordedUsage);
  else if (!isEmpty(recorded))
    assert.ok(usage.input > 0 && usage.output > 0, 'an answer without a cost');
  if (input > 0) assert.equal(usage.input, input);
  if (output > 0) assert.equal(usage.output, output);
}

/** Empty, like the answer to a blocked prompt. */
function isEmpty({ text, reasoning, calls }: Reading): boolean {
  return text === '' && reasoning === '' && calls.length === 0;
}

/** Only Messages has a pause; other formats show a finished answer. */
function stopFor(client: WireFormatName, stop: Reading['stop']): Reading['stop'] {
  return stop === 'pause' && client !== 'messages' ? 'end' : stop;
}

type Recorded = { readonly format: WireFormatName; readonly bytes: Buffer };

/** True when the client gets an error. Only Gemini's own know its words for a model that broke off. */
export function isFailure(
  { stop, usage }: Reading,
  { format, bytes }: Recorded,
  client: WireFormatName,
): boolean {
  const isTold = /"finishReason":\s*"(?:MALFORMED|UNEXPECTED)_/.test(bytes.toString('utf8'));
  return stop === 'failed' && !(isTold && usage && format === 'gemini' && client === 'gemini');
}
