// Thought signatures from Gemini return on the same parts, byte for byte, even through clients that
// keep no order between reasoning and text, as in Chat.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textPart } from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import type { AssistantPart } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import {
  anyParts,
  anySignatureValue,
  anyThinking,
  answerBody,
  canonicalRequest,
  upstreamTarget,
  userMessage,
} from '../../../tests/support/formats/gemini.ts';
import { repairConversation } from '../adapting/repair-conversation.ts';
import { modelTraits } from './model-traits.ts';
import { readAnswer } from './read-answer.ts';
import {
  readPlacedSignature,
  placeSignature,
  type SignedPlace,
} from '../../canonical/thought-signature.ts';
import { writeModelParts } from './write-model-parts.ts';
import { writeRequest } from './write-request.ts';

const traits = modelTraits('gemini-2.5-pro');
const write = (content: readonly AssistantPart[], ignored = new Set<string>()) =>
  writeModelParts(content, traits, ignored);

/** Thoughts without a signature are not sent back. */
function sentBack(parts: readonly JsonObject[]): JsonObject[] {
  const callSigned = parts.some((part) => part['functionCall'] && part['thoughtSignature']);
  const isBare = (part: JsonObject, index: number) =>
    part['thought'] === true && !(callSigned && parts[index + 1]?.['functionCall']);
  return parts.filter((part, index) => !isBare(part, index));
}

test('parts return unchanged', () => {
  fc.assert(
    fc.property(anyParts, (parts) => {
      assert.deepEqual(write(readAnswer(answerBody(parts)).content), sentBack(parts));
    }),
  );
});

test('parts return unchanged through a client that puts all reasoning first', () => {
  const rank = (part: AssistantPart) =>
    part.type === 'thinking' ? 0 : part.type === 'text' ? 1 : 2;
  fc.assert(
    fc.property(anyParts, (parts) => {
      const content = readAnswer(answerBody(parts)).content.toSorted(
        (first, second) => rank(first) - rank(second),
      );
      const withoutThoughts = (list: readonly JsonObject[]) =>
        list.filter((part) => part['thought'] !== true);
      assert.deepEqual(withoutThoughts(write(content)), withoutThoughts(parts));
    }),
  );
});

test('several signatures of one kind return to their own parts, whatever the order of the reasoning', () => {
  const parts = [
    { text: 'x' },
    { text: '', thoughtSignature: 'QQ==' },
    { text: '', thoughtSignature: 'Qg==' },
    { functionCall: { id: 'a', name: 'f', args: {} }, thoughtSignature: 'Yw==' },
    { functionCall: { id: 'b', name: 'f', args: {} } },
    { functionCall: { id: 'c', name: 'f', args: {} }, thoughtSignature: 'ZA==' },
  ];
  const { content } = readAnswer(answerBody(parts));
  assert.deepEqual(write(content), parts);
  const reasoning = content.filter(({ type }) => type === 'thinking');
  const [first, second, ...calls] = reasoning;
  const shuffled = [
    ...calls.toReversed(),
    first!,
    second!,
    ...content.filter(({ type }) => type !== 'thinking'),
  ];
  assert.deepEqual(write(shuffled), parts);
});

test('a turn that a client splits into several messages becomes one again', () => {
  const parts = [
    { text: 'I look.', thoughtSignature: 'dGV4dA==' },
    { functionCall: { id: 'a', name: 'f', args: {} }, thoughtSignature: 'Y2FsbA==' },
    { functionCall: { id: 'b', name: 'f', args: {} } },
  ];
  const split = readAnswer(answerBody(parts)).content.map((part) => ({
    role: 'assistant' as const,
    content: [part],
  }));
  const results = ['a', 'b'].map((callId) => ({
    type: 'tool-result' as const,
    callId,
    content: [],
    isError: false,
  }));
  const request = canonicalRequest({
    messages: [userMessage('x'), ...split, { role: 'tool', content: results }],
  });
  const { body } = writeRequest(repairConversation(request), upstreamTarget());
  assert.deepEqual((body['contents'] as JsonObject[])[1], { role: 'model', parts });
});

test('a signature whose call id a client changed goes to the next call', () => {
  const content = readAnswer(
    answerBody([{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' }]),
  ).content;
  const renamed = content.map((part) =>
    part.type === 'tool-call' ? { ...part, id: 'other' } : part,
  );
  assert.deepEqual(write(renamed), [
    { functionCall: { id: 'other', name: 'f', args: {} }, thoughtSignature: 'c2ln' },
  ]);
});

test('a signature without its part goes on an empty text, and that of a call is dropped', () => {
  const only = (place: SignedPlace): AssistantPart[] => [
    { type: 'thinking', text: '', signature: placeSignature(place, 'c2ln'), redacted: true },
  ];
  assert.deepEqual(write(only({ kind: 'text' })), [{ text: '', thoughtSignature: 'c2ln' }]);
  assert.deepEqual(write(only({ kind: 'call', callId: 'a' })), []);
});

test('reasoning of other vendors or without a signature is dropped and reported, and the rest keeps its place', () => {
  fc.assert(
    fc.property(fc.array(anyThinking, { maxLength: 5 }), (thinking) => {
      const foreign = thinking.filter((part) => part.signature?.vendor !== 'google');
      const text: AssistantPart = textPart('x');
      const ignored = new Set<string>();
      const written = write([...thinking, text], ignored);
      assert.equal(ignored.has('thinking'), foreign.length > 0);
      const own = write([...thinking.filter((part) => !foreign.includes(part)), text]);
      assert.deepEqual(written, own);
      assert.equal(written.filter((part) => part['text'] === 'x' && !part['thought']).length, 1);
    }),
  );
});

test('a sealed signature opens to its place and its bytes', () => {
  const places: fc.Arbitrary<SignedPlace> = fc.oneof(
    fc.constantFrom(
      { kind: 'thought' as const },
      { kind: 'text' as const },
      { kind: 'empty-text' as const },
    ),
    fc.string({ minLength: 1 }).map((callId) => ({ kind: 'call' as const, callId })),
  );
  fc.assert(
    fc.property(places, anySignatureValue, (place, value) => {
      assert.deepEqual(readPlacedSignature(placeSignature(place, value).value), { place, value });
    }),
  );
  assert.deepEqual(readPlacedSignature('bare=='), {
    place: { kind: 'call', callId: null },
    value: 'bare==',
  });
});
