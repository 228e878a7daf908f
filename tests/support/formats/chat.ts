// Shared by the Chat format's tests: a writer's context, a reader for whole streams, and random
// answers.
import { anyCharacter, anyUrl } from '../any-text.ts';
import fc from '../property.ts';
import { anyAnswerOf } from '../canonical/any-answers.ts';
import { record, typed } from '../plain-record.ts';
import type { StreamEvent } from '../../../src/canonical/event.ts';
import type {
  AssistantPart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
} from '../../../src/canonical/request.ts';
import type { SseEvent } from '../../../src/lib/sse.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type { AnswerContext, ClientRequest } from '../../../src/formats/format.ts';
import { parseRequest } from '../../../src/formats/chat/parse-request.ts';
import { readStream } from '../../../src/formats/chat/read-stream.ts';
import type { ChatRequest } from '../../../src/formats/chat/schema.ts';

export const simpleRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

export function requestFor(fields: JsonObject = {}): ClientRequest<ChatRequest> {
  return parseRequest({ ...simpleRequest, ...fields }, { chatMaxTokens: null });
}

export function contextFor(fields: JsonObject = {}): AnswerContext {
  return {
    requestId: '01kahw',
    model: 'catalogue/model',
    createdAtSeconds: 1_790_000_000,
    request: requestFor(fields),
    estimatedInputTokens: 7,
  };
}

export function dataEvent(chunk: unknown): SseEvent {
  return { event: '', data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) };
}

/** Returns everything a reader emits for these events and the end of the connection. */
export function readAll(events: readonly SseEvent[]): StreamEvent[] {
  const reader = readStream();
  return [...events.flatMap((event) => reader.push(event)), ...reader.end()];
}

export const anyText = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 40 });
/** After a JSON round trip, which turns negative zero into zero. */
export const anyJsonObject = fc
  .dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true })
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>);

const anySignature = record({
  vendor: fc.constantFrom('anthropic' as const, 'openai' as const, 'google' as const),
  value: fc.base64String({ minLength: 4 }),
});
const anySignedThinking: fc.Arbitrary<ThinkingPart> = fc.oneof(
  typed('thinking', { text: anyText, signature: anySignature, redacted: fc.constant(false) }),
  typed('thinking', {
    text: fc.constant(''),
    signature: anySignature,
    redacted: fc.constant(true),
  }),
);
const anyUnsignedThinking: fc.Arbitrary<ThinkingPart> = anyText.map((text) => ({
  type: 'thinking',
  text,
  signature: null,
  redacted: false,
}));
const anyToolCall: fc.Arbitrary<ToolCallPart> = fc.oneof(
  typed('tool-call', {
    id: fc.base64String({ minLength: 4 }),
    name: fc.constantFrom('get_weather', 'search'),
    arguments: anyJsonObject.map((value) => JSON.stringify(value)),
    kind: fc.constant('function' as const),
  }),
  typed('tool-call', {
    id: fc.base64String({ minLength: 4 }),
    name: fc.constantFrom('patch', 'query'),
    arguments: anyText,
    kind: fc.constant('custom' as const),
  }),
);

/** Citations as a search model sends them: of pages only, with a position in the text. */
const anyCitation = typed('url', {
  url: anyUrl,
  title: fc.option(anyText),
  citedText: fc.option(anyText),
  span: fc
    .tuple(fc.nat(9), fc.integer({ min: 1, max: 9 }))
    .map(([start, length]) => ({ start, end: start + length })),
  reference: fc.constant(null),
});
const anyTextPart: fc.Arbitrary<TextPart> = fc.oneof(
  typed('text', { text: anyText }),
  typed('text', {
    text: anyText,
    citations: fc.array(anyCitation, { minLength: 1, maxLength: 3 }),
  }),
);

/** An assistant turn that Chat can express: reasoning, one text, one refusal, tool calls. */
export const anyAssistantContent: fc.Arbitrary<AssistantPart[]> = record({
  thinking: fc.oneof(
    fc.constant([]),
    anyUnsignedThinking.map((part) => [part]),
    fc.array(anySignedThinking, { minLength: 1, maxLength: 3 }),
  ),
  text: fc.option(anyTextPart),
  refusal: fc.option(anyText, { freq: 4 }),
  toolCalls: fc.uniqueArray(anyToolCall, { maxLength: 3, selector: (call) => call.id }),
}).map(({ thinking, text, refusal, toolCalls }) => [
  ...thinking,
  ...(text === null ? [] : [text]),
  ...(refusal === null ? [] : [{ type: 'refusal' as const, text: refusal }]),
  ...toolCalls,
]);

export const anyAnswer = anyAnswerOf(anyAssistantContent);
