import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assistantTurn,
  callPart,
  textPart,
  userTurn,
} from '../../../tests/support/canonical/parts.ts';
import { anyCharacter } from '../../../tests/support/any-text.ts';
import fc from '../../../tests/support/property.ts';
import { answerOf, collect } from '../../../tests/support/canonical/answers.ts';
import { CustomInputDecoder } from './custom-tools-input.ts';
import { lowerCustomTools, raiseCustomCalls } from './custom-tools.ts';
import { emptyRequest } from '../../../tests/support/canonical/empty-request.ts';
import type { CanonicalRequest, Tool } from '../../canonical/request.ts';
import { eventsOf } from '../../canonical/answer.ts';

const patch: Tool = {
  name: 'apply_patch',
  description: 'Edits files.',
  parameters: null,
  strict: null,
  kind: 'custom',
};
const look: Tool = {
  name: 'look',
  description: null,
  parameters: { type: 'object' },
  strict: true,
  kind: 'function',
};
const request: CanonicalRequest = {
  ...emptyRequest,
  messages: [
    userTurn('Go'),
    assistantTurn(callPart('c1', 'apply_patch', 'a "b"\n', 'custom'), callPart('c2', 'look')),
  ],
  tools: [{ ...patch, grammar: { syntax: 'lark', definition: 'start: x' } }, look],
};

test('custom tools and their calls become functions with one string, and nothing else changes', () => {
  const lowered = lowerCustomTools(request);
  assert.deepEqual([...lowered.names], ['apply_patch']);
  assert.deepEqual(lowered.ignored, ['tools.format']);
  const [tool, other] = lowered.request.tools;
  assert.deepEqual(other, look);
  assert.deepEqual([tool?.kind, tool?.grammar], ['function', undefined]);
  assert.equal(
    tool?.description,
    'Edits files.\n\nThe input must match this lark grammar:\nstart: x',
  );
  assert.deepEqual(tool?.parameters?.required, ['input']);
  assert.deepEqual(lowered.request.messages.map(({ content }) => content).at(-1), [
    callPart('c1', 'apply_patch', '{"input":"a \\"b\\"\\n"}'),
    callPart('c2', 'look'),
  ]);
});

test('a request without custom tools stays unchanged', () => {
  const plain = { ...request, tools: [look], messages: [] };
  assert.equal(lowerCustomTools(plain).request, plain);
});

test('a call of an earlier turn is lowered even when its tool is gone', () => {
  const { request: lowered, names } = lowerCustomTools({ ...request, tools: [look] });
  assert.equal(names.size, 0);
  assert.ok(!JSON.stringify(lowered).includes('"custom"'));
});

/**
 * JSON as hosts write it: with and without spaces, with every character escaped or only the
 * necessary ones.
 */
const anyArguments = fc
  .tuple(fc.string({ unit: anyCharacter, maxLength: 40 }), fc.boolean(), fc.boolean())
  .map(([input, isSpaced, isEscaped]) => {
    const text = isEscaped ? escapeAll(input) : JSON.stringify(input);
    return { input, text: isSpaced ? ` {\n "input" : ${text} }\n` : `{"input":${text}}` };
  });

function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

function split(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((start, index) => text.slice(start, places[index] ?? text.length));
}

test('the whole input is decoded, wherever its JSON is split, and each piece is valid text', () => {
  fc.assert(
    fc.property(anyArguments, fc.array(fc.nat(), { maxLength: 12 }), ({ input, text }, cuts) => {
      const decoder = new CustomInputDecoder();
      const pieces = [...split(text, cuts).map((piece) => decoder.push(piece)), decoder.end()];
      assert.equal(pieces.join(''), input.toWellFormed());
      for (const piece of pieces) assert.ok(piece.isWellFormed());
    }),
    { numRuns: 2_000 },
  );
});

/** Decodes whole arguments. */
function decodeCustomInput(text: string): string {
  const decoder = new CustomInputDecoder();
  return decoder.push(text) + decoder.end();
}

test('any text decodes to the same input, whole or split, without an error', () => {
  const anyText = fc.oneof(
    fc.string({
      unit: fc.constantFrom('{', '}', '"', 'input', ':', '\\', 'u', '1', ' ', 'x', '\ud83d', ','),
      maxLength: 20,
    }),
    fc
      .string({ unit: fc.constantFrom('"', '\\', 'n', '}', ' ', 'a', '\ude00'), maxLength: 12 })
      .map((end) => `{"input":"${end}`),
  );
  fc.assert(
    fc.property(anyText, fc.array(fc.nat(), { maxLength: 8 }), (text, cuts) => {
      const decoder = new CustomInputDecoder();
      const pieces = [...split(text, cuts).map((piece) => decoder.push(piece)), decoder.end()];
      assert.equal(pieces.join(''), decodeCustomInput(text));
    }),
    { numRuns: 5_000 },
  );
});

test('the input streams as it arrives', () => {
  const decoder = new CustomInputDecoder();
  assert.deepEqual(
    ['{"inp', 'ut":"*** Be', 'gin\\', 'n', 'x"}'].map((piece) => decoder.push(piece)),
    ['', '*** Be', 'gin', '\n', 'x'],
  );
  assert.equal(decoder.end(), '');
});

const slips: Readonly<Record<string, readonly [text: string, input: string]>> = {
  'plain text': ['*** Begin Patch', '*** Begin Patch'],
  'text in braces': ['{ return 1 }', '{ return 1 }'],
  'no arguments at all': ['', ''],
  'an object without the input': ['{}', '{}'],
  'an input that is no string': ['{"input":5}', '{"input":5}'],
  'other members first': ['{"why":"x","input":"y"}', 'y'],
  'other members after': ['{"input":"y","why":"x"}', 'y'],
  'a quote that is not escaped': ['{"input":"say "hi" now"}', 'say "hi" now'],
  'line ends that are not escaped': ['{"input":"a\nb"}', 'a\nb'],
  'an escape that is none': ['{"input":"\\d+"}', '\\d+'],
  'cut off in the text': ['{"input":"abc', 'abc'],
  'cut off after the text': ['{"input":"abc"', 'abc'],
  'cut off ahead of the text': ['{"inp', '{"inp'],
  'half a pair': ['{"input":"\\ud83d"}', '\ufffd'],
};
for (const [name, [text, input]] of Object.entries(slips)) {
  test(`a model’s mistake: ${name}`, () => assert.equal(decodeCustomInput(text), input));
}

test('calls of lowered tools become custom calls again', () => {
  const answer = answerOf(
    [
      textPart('ok'),
      callPart('c1', 'apply_patch', '{"input":"a \\"b\\""}'),
      callPart('c2', 'look', '{"input":"stays"}'),
      callPart('c3', 'apply_patch', '{"other":1}'),
    ],
    { usage: null },
  );
  const names = new Set(['apply_patch']);
  const raised = collect([...eventsOf(answer)].flatMap(raiseCustomCalls(names)))!;
  assert.deepEqual(
    raised.content.map((part) => part.type === 'tool-call' && [part.kind, part.arguments]),
    [false, ['custom', 'a "b"'], ['function', '{"input":"stays"}'], ['custom', '{"other":1}']],
  );
});
