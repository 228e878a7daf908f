// Every request written for Gemini matches its SDK's types, for any content and any model.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repairConversation } from '../src/formats/adapting/repair-conversation.ts';
import { ApiError } from '../src/canonical/errors.ts';
import {
  effortLevels,
  type AssistantPart,
  type CanonicalRequest,
  type Message,
  type UserPart,
} from '../src/canonical/request.ts';
import {
  anyText,
  anyThinking,
  canonicalRequest,
  upstreamTarget,
  weatherTool,
} from './support/formats/gemini.ts';
import { record } from './support/plain-record.ts';
import { writeRequest } from '../src/formats/gemini/write-request.ts';
import { findRequestBreaches } from './support/gemini-types.ts';
import fc from './support/property.ts';

const models = (
  'gemini-2.0-flash gemini-2.5-pro gemini-2.5-flash gemini-3-flash-preview ' +
  'gemini-3.8-flash gemini-4-argon'
).split(' ');

const text = anyText.map((value) => ({ type: 'text' as const, text: value }));
const source = fc.constantFrom(
  { kind: 'url' as const, url: 'https://h.example/a.png' },
  { kind: 'base64' as const, mediaType: 'application/pdf', data: 'JVBE' },
);
const userPart: fc.Arbitrary<UserPart> = fc.oneof(
  text,
  record({ type: fc.constant('image' as const), source }),
  record({ type: fc.constant('document' as const), source, name: anyText }),
);
const id = fc.constantFrom('call_0', 'call_1', 'call_2');
const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  text,
  anyThinking,
  record({
    type: fc.constant('tool-call' as const),
    id,
    name: fc.constant('get_weather'),
    arguments: fc.constantFrom('{"city":"Paris"}', '', 'no json'),
    kind: fc.constant('function' as const),
  }),
);
const result = record({
  type: fc.constant('tool-result' as const),
  callId: id,
  content: fc.array(userPart, { maxLength: 2 }),
  isError: fc.boolean(),
});
const messages: fc.Arbitrary<Message[]> = fc.array(
  fc.oneof(
    record({ role: fc.constant('system' as const), content: fc.array(text, { maxLength: 2 }) }),
    record({ role: fc.constant('user' as const), content: fc.array(userPart, { maxLength: 3 }) }),
    record({
      role: fc.constant('assistant' as const),
      content: fc.array(assistantPart, { maxLength: 4 }),
    }),
    record({
      role: fc.constant('tool' as const),
      content: fc.array(result, { minLength: 1, maxLength: 3 }),
    }),
  ),
  { maxLength: 6 },
);
const requests: fc.Arbitrary<CanonicalRequest> = record({
  system: fc.array(text, { maxLength: 2 }),
  messages,
  tools: fc.constantFrom(
    [],
    [weatherTool],
    [weatherTool, { ...weatherTool, name: 'now', parameters: null, strict: true }],
  ),
  toolChoice: fc.constantFrom(
    null,
    { type: 'auto' as const },
    { type: 'required' as const },
    { type: 'tool' as const, name: 'get_weather' },
  ),
  temperature: fc.option(fc.constantFrom(0, 1)),
  topK: fc.option(fc.constant(40)),
  seed: fc.option(fc.integer()),
  presencePenalty: fc.option(fc.constant(1)),
  stopSequences: fc.array(anyText, { maxLength: 5 }),
  reasoning: fc.oneof(
    fc.constant(null),
    fc.constantFrom(...effortLevels).map((effort) => ({ effort, budgetTokens: null })),
    fc.nat(50_000).map((budgetTokens) => ({ effort: null, budgetTokens })),
  ),
  outputFormat: fc.constantFrom(
    { type: 'text' as const },
    { type: 'json' as const },
    {
      type: 'json-schema' as const,
      name: 'x',
      description: 'y',
      schema: { type: 'object' },
      strict: true,
    },
  ),
}).map((fields) => canonicalRequest(fields));

test('requests match the official types or are refused', () => {
  let written = 0;
  fc.assert(
    fc.property(requests, fc.constantFrom(...models), fc.boolean(), (request, model, thinking) => {
      const body = write(request, model, thinking);
      if (!body) return;
      written++;
      assert.deepEqual(findRequestBreaches(body), []);
      assertAlternates(body['contents'] as { role: string }[]);
    }),
    { numRuns: 500 },
  );
  assert.ok(written > 50, `only ${written} requests were written`);
});

function write(request: CanonicalRequest, model: string, thinking: boolean) {
  try {
    return writeRequest(repairConversation(request), upstreamTarget({ model, thinking })).body;
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 'invalid_request', String(error));
    return null;
  }
}

function assertAlternates(contents: readonly { readonly role: string }[]): void {
  for (const [index, { role }] of contents.entries())
    assert.notEqual(role, contents[index - 1]?.role);
}

test('the type check notices an unknown field', () => {
  assert.deepEqual(
    findRequestBreaches({ contents: [{ role: 'user', parts: [{ text: 'x' }] }] }),
    [],
  );
  assert.match(
    findRequestBreaches({ contents: [{ role: 'user', parts: [{ txt: 'x' }] }] }).join(),
    /additional properties/,
  );
  assert.deepEqual(findRequestBreaches({ surprise: 1 }), ['surprise is not known']);
});
