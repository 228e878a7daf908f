// The plain readers by wire format, and when two readings say the same.
import assert from 'node:assert/strict';
import { readChat } from './chat.ts';
import { readGemini } from './gemini.ts';
import { readMessage, readMessageStream } from './messages.ts';
import { eventsOf, type Json, type Reading, type WireFormatName } from './reading.ts';
import { readResponse, readResponseStream } from './responses.ts';

type Wire = { readonly whole: (body: Json) => Reading; readonly stream: (events: readonly Json[]) => Reading };

const wires: Readonly<Record<WireFormatName, Wire>> = {
  responses: { whole: readResponse, stream: readResponseStream },
  chat: { whole: (body) => readChat([body]), stream: readChat },
  messages: { whole: readMessage, stream: readMessageStream },
  gemini: { whole: (body) => readGemini([body]), stream: readGemini },
};

/** `text`: a whole body, or an event stream, as it went over the wire. */
export function readPlainly(wire: WireFormatName, stream: boolean, text: string): Reading {
  return stream ? wires[wire].stream(eventsOf(text)) : wires[wire].whole(JSON.parse(text) as Json);
}

/** What a client that speaks `client` must read where a provider said `recorded`. `stop`: false leaves the reason of the end unasked. */
export function assertAgrees(received: Reading, recorded: Reading, client: WireFormatName, { stop = true } = {}): void {
  const { signatures, usage, ...content } = received;
  const { signatures: recordedSignatures, usage: recordedUsage, ...recordedContent } = recorded;
  assert.deepEqual(content, { ...recordedContent, stop: stop ? stopFor(client, recorded.stop) : received.stop });
  for (const signature of recordedSignatures) {
    assert.ok(
      signatures.some((candidate) => candidate.includes(signature)),
      `the signature ${signature.slice(0, 40)}… is lost`,
    );
  }
  assert.ok(usage, 'the client is shown no usage');
  // Where the provider has not counted the input, or the output, the gateway's own count is shown.
  const { input = 0, output = 0 } = recordedUsage ?? {};
  if (input > 0 && output > 0) assert.deepEqual(usage, recordedUsage);
  else if (!isEmpty(recorded)) assert.ok(usage.input > 0 && usage.output > 0, 'an answer without a cost');
  if (input > 0) assert.equal(usage.input, input);
  if (output > 0) assert.equal(usage.output, output);
}

/** As the answer to a prompt that was blocked. */
function isEmpty({ text, reasoning, calls }: Reading): boolean {
  return text === '' && reasoning === '' && calls.length === 0;
}

/** Only Messages has a word for a pause; to the others it is an answer that ended. */
function stopFor(client: WireFormatName, stop: Reading['stop']): Reading['stop'] {
  return stop === 'pause' && client !== 'messages' ? 'end' : stop;
}
