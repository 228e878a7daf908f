// Rules for every event stream that a client receives, by wire format: one place for all tests that
// read streams.
//
//   const { ending, text } = checkStream('responses', reply.text);  // throws at the first breach
//   checkStream('chat', bytes, { usageAsked: true });
//   checkStream('messages', reply.text, { straight: true });
//
// `straight`: the upstream spoke the client's format, and its events passed unchanged. Rules that
// only our own writer can keep are skipped then; each rule file lists the rest.
import assert from 'node:assert/strict';
import type { ClientFormatName } from '../../src/terms/format-name.ts';
import { readClientFrames } from './stream-rules-frames.ts';
import { checkChat } from './stream-rules-chat.ts';
import { checkGemini } from './stream-rules-gemini.ts';
import { checkMessages } from './stream-rules-messages.ts';
import { checkResponses } from './stream-rules-responses.ts';

export type StreamFacts = {
  /** Chat: the request set `stream_options.include_usage`. */
  readonly usageAsked?: boolean;
  readonly straight?: boolean;
};

/** How the stream ended, and its text (without reasoning and refusals). */
export type StreamReading = { readonly ending: 'success' | 'error'; readonly text: string };

const rules = {
  chat: checkChat,
  messages: checkMessages,
  responses: checkResponses,
  gemini: checkGemini,
} as const;

/**
 * Reads all bytes sent to a client as one stream. A stream that ends with the format's error event
 * is valid.
 */
export function checkStream(
  wire: ClientFormatName,
  bytes: string | Uint8Array,
  facts: StreamFacts = {},
): StreamReading {
  const frames = readClientFrames(bytes);
  const reading = rules[wire](
    frames.filter((frame) => frame.kind === 'event'),
    facts,
  );
  for (const frame of frames)
    if (frame.kind === 'comment')
      assert.equal(frame.text, 'keep-alive', 'comments tell of silence alone');
  return reading;
}
