// What every event stream that a client receives must keep to, by wire format: one place for all tests that see streams.
//
//   const { ending, text } = checkStream('responses', reply.text);                       // throws AssertionError at the first breach
//   checkStream('chat', bytes, { usageAsked: true });
//   checkStream('messages', reply.text, { straight: true });
//
// `straight`: the upstream spoke the client's own format, and its events passed as they came. What only a writer of ours can promise is
// not asked of them then; each rule file says what remains.
import assert from 'node:assert/strict';
import type { WireName } from './answers.ts';
import { readClientFrames } from './stream-rules-frames.ts';
import { checkChat } from './stream-rules-chat.ts';
import { checkMessages } from './stream-rules-messages.ts';
import { checkResponses } from './stream-rules-responses.ts';

export type StreamFacts = {
  /** Chat: whether the request said `stream_options.include_usage`. */
  readonly usageAsked?: boolean;
  readonly straight?: boolean;
};

/** How the stream ended, and the text of its answer (reasoning and refusals aside). */
export type StreamReading = { readonly ending: 'success' | 'error'; readonly text: string };

const rules = { chat: checkChat, messages: checkMessages, responses: checkResponses } as const;

/** Reads all the bytes that a client was sent as one stream. A stream that ends with the format's error event is a proper one. */
export function checkStream(wire: WireName, bytes: string | Uint8Array, facts: StreamFacts = {}): StreamReading {
  const frames = readClientFrames(bytes);
  const reading = rules[wire](
    frames.filter((frame) => frame.kind === 'event'),
    facts,
  );
  const costs = frames.flatMap((frame, index) => (frame.kind === 'comment' && frame.text.startsWith('cost_') ? [index] : []));
  assert.deepEqual(
    costs.filter((index) => index !== frames.length - 2 || reading.ending === 'error'),
    [],
    'the cost stands directly before the last event of a success, and nowhere else',
  );
  return reading;
}
