// Shared by the Responses format's tests: a writer's context, readers and writers for whole
// streams, and random requests and answers.
import { anyCharacter, anyUrl } from '../any-text.ts';
import fc from '../property.ts';
import { anyAnswerOf } from '../canonical/any-answers.ts';
import { pieceEvents } from '../canonical/answers.ts';
import { emptyRequest } from '../canonical/empty-request.ts';
import { withNamedJson } from '../canonical/parts.ts';
import { record, typed } from '../plain-record.ts';
import type { Answer } from '../../../src/canonical/answer.ts';
import type { StreamEvent } from '../../../src/canonical/event.ts';
import type {
  AssistantPart,
  CanonicalRequest,
  Message,
  ThinkingPart,
  ToolCallPart,
  UserPart,
} from '../../../src/canonical/request.ts';
import type { SseEvent } from '../../../src/lib/sse.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type {
  AnswerContext,
  ClientRequest,
  StreamPipe,
  UpstreamTarget,
} from '../../../src/formats/format.ts';
import { parseSse } from './sse.ts';
import { parseRequest } from '../../../src/formats/responses/parse-request.ts';
import { readStream } from '../../../src/formats/responses/read-stream.ts';
import type { ResponsesRequest } from '../../../src/formats/responses/schema.ts';
import { writeStream } from '../../../src/formats/responses/write-stream.ts';

export const target: UpstreamTarget = {
  model: 'upstream-model',
  stream: false,
  maxOutputTokens: 4096,
  thinking: true,
  isOpenAi: false,
};

export function requestFor(fields: JsonObject = {}): ClientRequest<ResponsesRequest> {
  return parseRequest({ model: 'm', input: 'Hi', ...fields }, { chatMaxTokens: null });
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

/** An event as it stands in a stream. */
export function sseEvent(type: string, fields: JsonObject = {}): SseEvent {
  return { event: type, data: JSON.stringify({ type, ...fields }) };
}

/** Returns the payloads of frames, after checking that each event's name is its payload's type. */
export function payloadsOf(frames: string): JsonObject[] {
  return parseSse(frames).map(({ event, data }) => {
    const payload = JSON.parse(data) as JsonObject;
    if (event !== payload.type)
      throw new Error(`the event ${event} carries a ${String(payload.type)}`);
    return payload;
  });
}

/** Returns everything a pipe sends for these inputs, with its last frames if it finished. */
export function runPipe<Input>(
  pipe: StreamPipe<Input>,
  inputs: readonly Input[],
  costUsd = 0,
): string {
  const frames = inputs.map((input) => pipe.push(input)).join('') + pipe.end();
  return pipe.progress.status === 'finished' ? frames + pipe.close(costUsd) : frames;
}

/** Returns everything the reader emits for these events and the end of the connection. */
export function readAll(events: readonly SseEvent[]): StreamEvent[] {
  const reader = readStream();
  return [...events.flatMap((event) => reader.push(event)), ...reader.end()];
}

export function streamAnswer(answer: Answer, context: AnswerContext, pieceSize = 3): string {
  return runPipe(writeStream(context), pieceEvents(answer, pieceSize));
}

const anyText = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 30 });
const anyName = fc.constantFrom('get_weather', 'search', 'patch');
const anyTextPart = typed('text', { text: fc.oneof(anyText, fc.constant('')) });
const anyCitation = typed('url', {
  url: anyUrl,
  title: fc.option(anyText),
  citedText: fc.constant(null),
  span: fc
    .tuple(fc.nat(9), fc.integer({ min: 1, max: 9 }))
    .map(([start, length]) => ({ start, end: start + length })),
  reference: fc.constant(null),
});
const anyCitedText = typed('text', {
  text: anyText,
  citations: fc.array(anyCitation, { minLength: 1, maxLength: 3 }),
});
const anyRefusal = typed('refusal', { text: anyText });
const anyCall: fc.Arbitrary<ToolCallPart> = typed('tool-call', {
  id: fc.uuid(),
  name: anyName,
  arguments: fc.oneof(
    fc.constant('{"city":"Paris"}'),
    anyText.map((text) => `{${text}`),
  ),
  kind: fc.constantFrom('function' as const, 'custom' as const),
});
const anySignature = record({
  vendor: fc.constantFrom('anthropic' as const, 'openai' as const, 'google' as const),
  value: fc.oneof(fc.base64String({ minLength: 4 }), anyText),
});
const anyThinking: fc.Arbitrary<ThinkingPart> = fc.oneof(
  typed('thinking', {
    text: anyText,
    signature: fc.option(anySignature),
    redacted: fc.constant(false),
  }),
  typed('thinking', { text: fc.constant(''), signature: anySignature, redacted: fc.boolean() }),
);
const anyAssistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  anyTextPart,
  anyCitedText,
  anyRefusal,
  anyThinking,
  anyCall,
);

/** Answers that a Responses upstream could send. */
export const anyAnswer = anyAnswerOf(
  fc.uniqueArray(anyAssistantPart, {
    maxLength: 6,
    selector: (part) => (part.type === 'tool-call' ? part.id : part),
  }),
);

const anyMedia = (mediaType: string) =>
  fc.oneof(
    record({ kind: fc.constant('url' as const), url: anyUrl }),
    record({
      kind: fc.constant('base64' as const),
      mediaType: fc.constant(mediaType),
      data: fc.base64String(),
    }),
  );
const anyPicture = anyMedia('image/png');
const anyUserPart: fc.Arbitrary<UserPart> = fc.oneof(
  anyTextPart,
  typed('image', { source: anyPicture }),
  typed('image', { source: anyPicture, detail: fc.constantFrom('low', 'high') }),
  typed('document', {
    source: anyMedia('application/pdf'),
    name: fc.constantFrom('a.pdf', 'notes.txt'),
  }),
);
const anyOpenAiThinking: fc.Arbitrary<ThinkingPart> = typed('thinking', {
  text: fc.oneof(anyText, fc.constant('')),
  signature: record({
    vendor: fc.constant('openai' as const),
    value: fc.base64String({ minLength: 8 }),
  }),
  redacted: fc.constant(false),
});
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  record({
    role: fc.constant('system' as const),
    content: fc.array(anyTextPart, { minLength: 1, maxLength: 2 }),
  }),
  record({
    role: fc.constant('user' as const),
    content: fc.array(anyUserPart, { minLength: 1, maxLength: 3 }),
  }),
  record({
    role: fc.constant('assistant' as const),
    content: fc.array(fc.oneof(anyTextPart, anyCitedText, anyRefusal, anyOpenAiThinking, anyCall), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  record({
    role: fc.constant('tool' as const),
    content: fc.array(
      typed('tool-result', {
        callId: fc.uuid(),
        content: fc.array(anyUserPart, { maxLength: 2 }),
        isError: fc.constant(false),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
);

/**
 * Conversations that items can express: no leading system message, and no adjacent turns of the
 * assistant or of tools.
 */
const anyMessages = fc
  .array(anyMessage, { maxLength: 6 })
  .map((messages): Message[] => [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    ...messages.filter(
      ({ role }, index) =>
        role === 'user' || role === 'system' || messages[index - 1]?.role !== role,
    ),
  ])
  .map((messages) =>
    messages.filter(({ role }, index) => role === 'user' || messages[index - 1]?.role !== role),
  );

const anySchema = fc.constant({ type: 'object', properties: { city: { type: 'string' } } });

/** Requests that a Responses body expresses without loss. */
export const anyRequest: fc.Arbitrary<CanonicalRequest> = record<Partial<CanonicalRequest>>({
  system: fc.array(typed('text', { text: anyText }), { maxLength: 3 }),
  messages: anyMessages,
  tools: fc.array(
    fc.oneof(
      record({
        name: anyName,
        description: fc.option(anyText),
        parameters: anySchema,
        strict: fc.boolean(),
        kind: fc.constant('function' as const),
      }),
      record({
        name: anyName,
        description: fc.option(anyText),
        parameters: fc.constant(null),
        strict: fc.constant(null),
        kind: fc.constant('custom' as const),
      }),
      record({
        name: anyName,
        description: fc.option(anyText),
        parameters: fc.constant(null),
        strict: fc.constant(null),
        kind: fc.constant('custom' as const),
        grammar: record({ syntax: fc.constantFrom('lark', 'regex'), definition: anyText }),
      }),
    ),
    { maxLength: 2 },
  ),
  toolChoice: fc.option(
    fc.oneof(
      fc.constantFrom(
        { type: 'auto' as const },
        { type: 'required' as const },
        { type: 'none' as const },
      ),
      typed('tool', { name: anyName }),
    ),
  ),
  parallelToolCalls: fc.option(fc.boolean()),
  maxOutputTokens: fc.integer({ min: 16, max: 9_999 }),
  reasoning: fc.option(
    record({
      effort: fc.constantFrom('minimal' as const, 'low' as const, 'max' as const),
      budgetTokens: fc.constant(null),
    }),
  ),
  outputFormat: fc.oneof(
    fc.constantFrom({ type: 'text' as const }, { type: 'json' as const }),
    typed('json-schema', {
      name: anyName,
      description: fc.option(anyText),
      schema: anySchema,
      strict: fc.option(fc.boolean()),
    }),
  ),
  endUser: fc.option(anyText),
  metadata: fc.option(fc.constant({ project: 'x' })),
  promptCacheKey: fc.option(anyText),
})
  .map((fields) => ({ ...emptyRequest, ...fields }))
  .map((request) => withNamedJson({ ...request, toolChoice: possibleChoice(request) }));

/** A tool choice that the request's tools allow. */
function possibleChoice({ toolChoice, tools }: CanonicalRequest): CanonicalRequest['toolChoice'] {
  const [first] = tools;
  if (toolChoice?.type === 'tool') return first ? { type: 'tool', name: first.name } : null;
  return toolChoice?.type === 'required' && !first ? null : toolChoice;
}
