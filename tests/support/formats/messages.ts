// Shared by the Messages format's tests: contexts, and random canonical values that Messages can
// express.
import { anyUrl } from '../any-text.ts';
import fc from '../property.ts';
import type { Answer } from '../../../src/canonical/answer.ts';
import type { Citation } from '../../../src/canonical/citation.ts';
import type { StreamEvent } from '../../../src/canonical/event.ts';
import type { Stop } from '../../../src/canonical/stop.ts';
import type { AssistantPart, Signature } from '../../../src/canonical/request.ts';
import type { Usage } from '../../../src/canonical/usage.ts';
import type { SseEvent } from '../../../src/lib/sse.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import type {
  AnswerContext,
  ClientRequest,
  StreamPipe,
  StreamReader,
  UpstreamTarget,
} from '../../../src/formats/format.ts';
import { parseRequest } from '../../../src/formats/messages/parse-request.ts';
import type { MessagesRequest } from '../../../src/formats/messages/schema.ts';
import { record, typed } from '../plain-record.ts';
import { parseSse } from './sse.ts';

export const limits = { chatMaxTokens: null };

export function clientRequest(fields: JsonObject = {}): ClientRequest<MessagesRequest> {
  const body = {
    model: 'claude-test',
    max_tokens: 4096,
    messages: [{ role: 'user', content: 'Hello' }],
    ...fields,
  };
  return parseRequest(body, limits);
}

export function answerContext(fields: Partial<AnswerContext> = {}): AnswerContext {
  return {
    requestId: '01kahw0000000000000000test',
    model: 'claude-test',
    createdAtSeconds: 1_763_683_200,
    request: clientRequest(),
    estimatedInputTokens: 77,
    ...fields,
  };
}

/** The context of a request with the stop sequence that its answer met. */
export function contextOf({ stop: { sequence } }: Answer): AnswerContext {
  return answerContext({ request: clientRequest({ stop_sequences: sequence ? [sequence] : [] }) });
}

export function upstreamTarget(fields: Partial<UpstreamTarget> = {}): UpstreamTarget {
  const base = { stream: false, maxOutputTokens: 4096, thinking: true, isOpenAi: false };
  return { model: 'claude-sonnet-4-20250514', ...base, ...fields };
}

export const blockStart = (block: object, index = 0) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
export const blockDelta = (delta: object, index = 0) => ({
  type: 'content_block_delta',
  index,
  delta,
});
export const blockStop = (index = 0) => ({ type: 'content_block_stop', index });

/** Returns the JSON of each event of a stream. */
export function eventsOf(text: string): Record<string, unknown>[] {
  return parseSse(text).map((event) => JSON.parse(event.data) as Record<string, unknown>);
}

/** Returns all that the pipe's client receives of a successful stream. */
export function runPipe<Input>(
  pipe: StreamPipe<Input>,
  inputs: Iterable<Input>,
  costUsd = 0,
): string {
  let frames = '';
  for (const input of inputs) frames += pipe.push(input);
  frames += pipe.end();
  return pipe.progress.status === 'finished' ? frames + pipe.close(costUsd) : frames;
}

export function runReader(reader: StreamReader, inputs: Iterable<SseEvent>): StreamEvent[] {
  const events: StreamEvent[] = [];
  for (const input of inputs) events.push(...reader.push(input));
  return [...events, ...reader.end()];
}

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const id = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/);
const signatureValue = fc.stringMatching(/^[a-zA-Z0-9+/]{1,16}={0,2}$/);
const anySignature: fc.Arbitrary<Signature> = record({
  vendor: fc.constantFrom('anthropic', 'openai', 'google'),
  value: signatureValue,
});
export const anthropicSignature: fc.Arbitrary<Signature> = record({
  vendor: fc.constant('anthropic'),
  value: signatureValue,
});
/** Argument texts as `JSON.stringify` writes them, or text that is not an object. */
const callArguments = fc.oneof(
  fc
    .dictionary(fc.string({ minLength: 1, maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), {
      noNullPrototype: true,
    })
    .map((value) => JSON.stringify(value)),
  fc.constantFrom('{"city": "Par', '[1]', '"x"', 'free text'),
);

const filledText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const place = fc
  .tuple(fc.nat({ max: 99 }), fc.integer({ min: 1, max: 99 }))
  .map(([start, size]) => ({ start, end: start + size }));
/** Citations that Anthropic could send: of whole blocks, with its reference. */
const ownCitations: fc.Arbitrary<Citation> = fc.oneof(
  typed('url', {
    url: anyUrl,
    title: fc.option(filledText),
    citedText: fc.option(filledText),
    span: fc.constant(null),
    reference: filledText,
  }),
  typed('search-result', {
    source: filledText,
    title: fc.option(filledText),
    citedText: text,
    resultIndex: fc.nat({ max: 9 }),
    blocks: place,
  }),
  typed('document', {
    documentIndex: fc.nat({ max: 9 }),
    title: fc.option(filledText),
    citedText: text,
    place: fc
      .tuple(fc.constantFrom('char' as const, 'page' as const, 'block' as const), place)
      .map(([unit, at]) => ({ unit, ...at })),
  }),
);
export const someCitations = fc.array(ownCitations, { minLength: 1, maxLength: 3 });

export const texts = text;
export const ids = id;

export function thinkingPart(
  signature: fc.Arbitrary<Signature | null>,
): fc.Arbitrary<AssistantPart> {
  return typed('thinking', { text, signature, redacted: fc.constant(false) });
}

export function redactedPart(signature: fc.Arbitrary<Signature>): fc.Arbitrary<AssistantPart> {
  return typed('thinking', { text: fc.constant(''), signature, redacted: fc.constant(true) });
}

export const callPart: fc.Arbitrary<AssistantPart> = typed('tool-call', {
  id,
  name: id,
  arguments: callArguments,
  kind: fc.constant('function'),
});

const count = fc.integer({ min: 1, max: 1_000_000 });
const usages: fc.Arbitrary<Usage> = record<Usage>({
  inputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: fc.integer({ min: 1, max: 1_000_000 }),
  cacheWrite1hTokens: count,
  outputTokens: count,
  reasoningTokens: count,
}).map((usage) => ({
  ...usage,
  reasoningTokens: Math.min(usage.reasoningTokens, usage.outputTokens),
}));

const stops: fc.Arbitrary<Stop> = fc.oneof(
  record({
    reason: fc.constantFrom('end', 'tool-calls', 'length', 'refusal', 'pause'),
    sequence: fc.constant(null),
  }),
  record({
    reason: fc.constant('stop-sequence' as const),
    sequence: fc.string({ minLength: 1, maxLength: 4 }),
  }),
);

/** Answers that survive a round trip through Messages. */
export const answers: fc.Arbitrary<Answer> = record({
  content: fc.array(
    fc.oneof(
      typed('text', { text }),
      typed('text', { text, citations: someCitations }),
      thinkingPart(fc.option(anySignature)),
      redactedPart(anySignature),
      callPart,
    ),
    { maxLength: 5 },
  ),
  stop: stops,
  usage: usages,
});

/** Events in random order, which no upstream should send. */
export const wildEvents: fc.Arbitrary<StreamEvent> = fc.oneof(
  fc.constantFrom<StreamEvent>(
    { type: 'start', usage: null },
    { type: 'text-start' },
    { type: 'text-end' },
    {
      type: 'citation',
      citation: {
        type: 'url',
        url: 'https://a.example',
        title: null,
        citedText: null,
        span: null,
        reference: null,
      },
    },
    { type: 'refusal-start' },
    { type: 'refusal-end' },
    { type: 'thinking-start', redacted: false },
    { type: 'thinking-start', redacted: true },
    { type: 'thinking-end' },
    { type: 'tool-call-start', id: 'call_1', name: 'tool', kind: 'function' },
    { type: 'tool-call-end' },
  ),
  record({
    type: fc.constantFrom('text-delta', 'refusal-delta', 'thinking-delta', 'tool-call-delta'),
    text,
  }),
  typed('thinking-signature', { signature: anySignature }),
);
