// Shared by the Gemini format's tests: requests, readers for whole and streamed answers, and random
// conversations.
import fc from '../property.ts';
import type { StreamEvent } from '../../../src/canonical/event.ts';
import { emptyRequest } from '../canonical/empty-request.ts';
import type {
  CanonicalRequest,
  Message,
  Signature,
  ThinkingPart,
} from '../../../src/canonical/request.ts';
import type { SseEvent } from '../../../src/lib/sse.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { UpstreamTarget } from '../../../src/formats/format.ts';
import { readStream } from '../../../src/formats/gemini/read-stream.ts';
import { placeSignature } from '../../../src/canonical/thought-signature.ts';
import { record, typed } from '../plain-record.ts';

export function canonicalRequest(fields: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return { ...emptyRequest, messages: [userMessage('Hello')], ...fields };
}

export function userMessage(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

export function upstreamTarget(fields: Partial<UpstreamTarget> = {}): UpstreamTarget {
  const base = { stream: false, maxOutputTokens: 4_096, thinking: true, isOpenAi: false };
  return { model: 'gemini-3-flash-preview', ...base, ...fields };
}

export const weatherTool = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: null,
  kind: 'function' as const,
};

/** An answer or a chunk with these parts. */
export function answerBody(
  parts: readonly object[],
  finishReason: string | null = 'STOP',
  more: JsonObject = {},
): JsonObject {
  return {
    candidates: [
      {
        content: { parts, role: 'model' },
        ...(finishReason === null ? {} : { finishReason }),
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: 'gemini-test',
    responseId: 'kM3xaZ-resp0nseid',
    ...more,
  };
}

function dataEvent(chunk: unknown): SseEvent {
  return { event: '', data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) };
}

/** Returns everything a reader emits for these events and the end of the connection. */
function readAll(events: readonly SseEvent[]): StreamEvent[] {
  const reader = readStream();
  return [...events.flatMap((event) => reader.push(event)), ...reader.end()];
}

export function readChunks(...chunks: readonly unknown[]): StreamEvent[] {
  return readAll(chunks.map(dataEvent));
}

export const anyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
export const anySignatureValue = fc.base64String({ minLength: 4, maxLength: 16 });
const anyArguments = fc
  .dictionary(fc.string({ minLength: 1, maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), {
    noNullPrototype: true,
  })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

/** Parts as Gemini sends them. Texts and thoughts alternate, as after adjacent ones are joined. */
export const anyParts: fc.Arbitrary<JsonObject[]> = record({
  thought: fc.option(anyText),
  text: fc.option(record({ text: anyText, signature: fc.option(anySignatureValue) })),
  calls: fc.array(record({ name: fc.stringMatching(/^[a-z_]{1,8}$/), args: anyArguments }), {
    maxLength: 3,
  }),
  callSignature: fc.option(anySignatureValue),
  last: fc.option(anySignatureValue),
}).map(({ thought, text, calls, callSignature, last }) => [
  ...(thought === null ? [] : [{ text: thought, thought: true }]),
  ...(text === null ? [] : [{ text: text.text, ...signed(text.signature) }]),
  ...calls.map((call, index) => ({
    functionCall: { id: `call_${index}`, ...call },
    ...(index === 0 ? signed(callSignature) : {}),
  })),
  ...(last === null || calls.length > 0 ? [] : [{ text: '', ...signed(last) }]),
]);

function signed(value: string | null): JsonObject {
  return value === null ? {} : { thoughtSignature: value };
}

/** Reasoning that a client sends back, from any vendor. */
export const anyThinking: fc.Arbitrary<ThinkingPart> = typed('thinking', {
  text: fc.oneof(fc.constant(''), anyText),
  signature: fc.option(
    fc.oneof<fc.Arbitrary<Signature>[]>(
      record({
        vendor: fc.constantFrom('anthropic' as const, 'openai' as const),
        value: anySignatureValue,
      }),
      fc
        .tuple(
          fc.constantFrom(
            { kind: 'thought' as const },
            { kind: 'text' as const },
            { kind: 'empty-text' as const },
            { kind: 'call' as const, callId: 'call_0' },
          ),
          anySignatureValue,
        )
        .map(([place, value]) => placeSignature(place, value)),
      record({ vendor: fc.constant('google' as const), value: anySignatureValue }),
    ),
  ),
  redacted: fc.boolean(),
});
