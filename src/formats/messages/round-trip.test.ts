// Requests that Messages can express survive being written and read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anyUrl } from '../../../tests/support/any-text.ts';
import fc from '../../../tests/support/property.ts';
import { emptyRequest } from '../../../tests/support/canonical/empty-request.ts';
import {
  type AssistantPart,
  effortLevels,
  type CanonicalRequest,
  type Message,
} from '../../canonical/request.ts';
import {
  anthropicSignature,
  callPart,
  ids,
  limits,
  redactedPart,
  someCitations,
  texts,
  thinkingPart,
  upstreamTarget,
} from '../../../tests/support/formats/messages.ts';
import { record, typed } from '../../../tests/support/plain-record.ts';
import { parseRequest } from './parse-request.ts';
import { readRequest } from './read-request.ts';
import { writeRequest } from './write-request.ts';

const filled = texts.filter((text) => text.trim() !== '' && !text.startsWith('x-anthropic'));
const text = fc.oneof(
  typed('text', { text: filled }),
  typed('text', {
    text: filled,
    cacheControl: fc.constantFrom(
      { type: 'ephemeral' as const },
      { type: 'ephemeral' as const, ttl: '1h' as const },
    ),
  }),
);
const citedText = typed('text', { text: filled, citations: someCitations });
const base64 = (mediaType: string) =>
  fc
    .base64String({ minLength: 4, maxLength: 12 })
    .map((data) => ({ kind: 'base64' as const, mediaType, data }));
const url = anyUrl.map((address) => ({ kind: 'url' as const, url: address }));
const image = typed('image', { source: fc.oneof(url, base64('image/png')) });
const textFile = texts.map((data) => ({
  kind: 'base64' as const,
  mediaType: 'text/plain',
  data: Buffer.from(data).toString('base64'),
}));
const document = typed('document', {
  source: fc.oneof(url, base64('application/pdf'), textFile),
  name: filled,
});
const result = typed('tool-result', {
  callId: ids,
  content: fc.array(fc.oneof(text, image, document), { maxLength: 2 }),
  isError: fc.boolean(),
});

const parts = <T>(part: fc.Arbitrary<T>) => fc.array(part, { minLength: 1, maxLength: 3 });
const userTurn: fc.Arbitrary<Message[]> = fc
  .tuple(fc.option(parts(result)), fc.option(parts(fc.oneof(text, image, document))))
  .filter(([results, content]) => results !== null || content !== null)
  .map(([results, content]) => [
    ...(results ? [{ role: 'tool' as const, content: results }] : []),
    ...(content ? [{ role: 'user' as const, content }] : []),
  ]);
const isShown = (part: AssistantPart | undefined) => part?.type === 'thinking' && !part.redacted;
const assistantTurn: fc.Arbitrary<Message[]> = parts(
  fc.oneof(
    text,
    citedText,
    callPart,
    thinkingPart(anthropicSignature),
    redactedPart(anthropicSignature),
  ),
)
  .filter((content) => content.at(-1)!.type !== 'thinking')
  .filter((content) => !content.some((part, at) => isShown(part) && isShown(content[at - 1])))
  .map((content) => [{ role: 'assistant', content }]);
const systemTurn: fc.Arbitrary<Message[]> = fc.oneof(
  fc.constant<Message[]>([]),
  parts(text).map((content): Message[] => [{ role: 'system', content }]),
);

/**
 * User and assistant turns alternate, with a system message after the user's if `systemMessages`.
 */
function conversation(systemMessages: boolean): fc.Arbitrary<Message[]> {
  const system = systemMessages ? systemTurn : fc.constant([]);
  const exchange = fc.tuple(userTurn, system, assistantTurn).map((turns) => turns.flat());
  return fc
    .tuple(fc.array(exchange, { maxLength: 2 }), userTurn, system)
    .map(([exchanges, last, end]) => [...exchanges.flat(), ...last, ...end]);
}

const tool = record({
  name: ids,
  description: fc.option(texts),
  parameters: fc.constantFrom(
    { type: 'object', additionalProperties: false },
    {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  ),
  strict: fc.option(fc.boolean()),
  kind: fc.constant('function' as const),
});
/** Unique names: Anthropic accepts no tool twice. */
const someTools = fc.uniqueArray(tool, {
  minLength: 1,
  maxLength: 3,
  selector: ({ name }) => name,
});
const parallel = fc.option(fc.boolean());
const toolUse: fc.Arbitrary<Pick<CanonicalRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>> =
  fc.oneof(
    fc.constant({ tools: [], toolChoice: null, parallelToolCalls: null }),
    record({
      tools: someTools,
      toolChoice: fc.constantFrom(null, { type: 'none' as const }),
      parallelToolCalls: fc.constant(null),
    }),
    record({
      tools: someTools,
      toolChoice: fc.oneof(fc.constant({ type: 'auto' as const })),
      parallelToolCalls: parallel,
    }),
  );
const forcedUse: typeof toolUse = fc
  .tuple(someTools, fc.boolean(), parallel)
  .map(([tools, byName, parallelToolCalls]) => ({
    tools,
    toolChoice: byName ? { type: 'tool', name: tools[0]!.name } : { type: 'required' },
    parallelToolCalls,
  }));

const outputFormat = fc.constantFrom<CanonicalRequest['outputFormat']>(
  { type: 'text' },
  {
    type: 'json-schema',
    name: 'answer',
    description: null,
    schema: { type: 'object' },
    strict: null,
  },
);
const common = {
  system: fc.array(text, { maxLength: 2 }),
  maxOutputTokens: fc.constant(4096),
  stopSequences: fc.array(filled, { maxLength: 2 }),
  outputFormat,
  endUser: fc.option(fc.stringMatching(/^[\w-]{1,20}$/)),
};
const unit = fc.option(fc.integer({ min: 0, max: 100 }).map((value) => value / 100));

function roundTrip(request: CanonicalRequest, model: string): void {
  // Anthropic takes four marks.
  fc.pre(JSON.stringify(request).split('"cacheControl"').length <= 5);
  const { body, ignored } = writeRequest(request, upstreamTarget({ model }));
  assert.deepEqual(ignored, []);
  assert.deepEqual(readRequest(parseRequest(JSON.parse(JSON.stringify(body)), limits)), request);
}

test('a request to a model with sampling survives being written and read', () => {
  const requests = fc
    .record({
      ...common,
      messages: conversation(false),
      toolUse: fc.oneof(toolUse, forcedUse),
      temperature: unit,
      topP: unit,
      topK: fc.option(fc.nat({ max: 100 })),
      reasoning: fc.constantFrom(null, { effort: 'none' as const, budgetTokens: null }),
    })
    .map(({ toolUse: use, ...rest }) => ({ ...emptyRequest, ...rest, ...use }));
  fc.assert(
    fc.property(requests, (request) => roundTrip(request, 'claude-sonnet-4-20250514')),
    { numRuns: 200 },
  );
});

test('a request to a newer model survives being written and read, with its effort and inner system messages', () => {
  const efforts = effortLevels.filter((level) => level !== 'none' && level !== 'minimal');
  const requests = fc
    .record({
      ...common,
      messages: conversation(true),
      toolUse,
      reasoning: fc.option(
        record({ effort: fc.option(fc.constantFrom(...efforts)), budgetTokens: fc.constant(null) }),
      ),
    })
    .map(({ toolUse: use, ...rest }) => ({ ...emptyRequest, ...rest, ...use }));
  fc.assert(
    fc.property(requests, (request) => roundTrip(request, 'claude-opus-5')),
    { numRuns: 200 },
  );
});
