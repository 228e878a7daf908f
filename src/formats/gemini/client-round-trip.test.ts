// The reasoning of any vendor's model returns through a Gemini client. Such clients return parts as they
// came, but the Gemini CLI drops thoughts, and Python's SDK writes signatures in URL-safe base64.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { answerContext } from '../../../tests/support/pipes.ts';
import type { AssistantPart, Vendor } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { readClientSchema } from './client-schema.ts';
import { parseRequest } from './parse-request.ts';
import { readConversation } from './read-conversation.ts';
import { readRequest } from './read-request.ts';
import type { Part } from './schema.ts';
import { writeAnswer } from './write-answer.ts';

const text = fc.string({ minLength: 1 });
const base64 = fc
  .uint8Array({ minLength: 3, maxLength: 60 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const thinking = (vendor: Vendor) =>
  fc.record({ text, value: base64 }).map((made): AssistantPart => ({
    type: 'thinking',
    text: made.text,
    signature: { vendor, value: made.value },
    redacted: false,
  }));
const call = fc.record({
  type: fc.constant('tool-call' as const),
  id: fc.uuid(),
  name: fc.constant('f'),
  arguments: fc.constant('{"a":1}'),
  kind: fc.constant('function' as const),
});
const said = fc.oneof(
  call,
  text.map((one): AssistantPart => ({ type: 'text', text: one })),
);
/** Anthropic signs the text, so it must return, too. */
const steps = fc.array(fc.tuple(thinking('anthropic'), said), { minLength: 1, maxLength: 5 });

const clients: Readonly<Record<string, (parts: readonly JsonObject[]) => readonly JsonObject[]>> = {
  'that returns all parts': (parts) => parts,
  'that drops thoughts': (parts) => parts.filter(({ thought }) => thought !== true),
  'that writes base64 for URLs': (parts) =>
    parts.map((part) => {
      const { thoughtSignature: signature } = part;
      if (typeof signature !== 'string') return part;
      return { ...part, thoughtSignature: signature.replaceAll('+', '-').replaceAll('/', '_') };
    }),
};

for (const [name, send] of Object.entries(clients)) {
  test(`signed reasoning returns before its part, through a client ${name}`, () => {
    fc.assert(
      fc.property(steps, (made) => {
        const content = made.flat();
        const answer = { content, stop: { reason: 'end', sequence: null } as const, usage: null };
        const { candidates } = writeAnswer(answer, answerContext('gemini')) as {
          candidates: [{ content: { parts: JsonObject[] } }];
        };
        const parts = send(candidates[0].content.parts) as Part[];
        const [message] = readConversation([{ role: 'model', parts }]);
        assert.equal(JSON.stringify(message!.content), JSON.stringify(content));
      }),
    );
  });
}

test('Google’s form of schemas is read as JSON schema; names of properties are never changed', () => {
  const schema = {
    type: 'OBJECT',
    nullable: true,
    properties: {
      type: { type: 'STRING', enum: ['a'], nullable: true, format: 'enum' },
      any_of: { any_of: [{ type: 'INTEGER' }, { type: 'NUMBER' }] },
      list: { type: 'ARRAY', items: { type: 'BOOLEAN' }, min_items: '2', maxItems: 3 },
    },
    propertyOrdering: ['type'],
    required: ['type'],
  };
  assert.deepEqual(readClientSchema(schema), {
    type: ['object', 'null'],
    properties: {
      type: { type: ['string', 'null'], enum: ['a', null] },
      any_of: { anyOf: [{ type: 'integer' }, { type: 'number' }] },
      list: { type: 'array', items: { type: 'boolean' }, minItems: 2, maxItems: 3 },
    },
    required: ['type'],
  });
});

test('a schema asks for JSON without the media type, too, and its properties keep their given order', () => {
  const properties = { b: { type: 'STRING' }, a: { type: 'STRING' }, c: { type: 'STRING' } };
  const responseSchema = { type: 'OBJECT', properties, propertyOrdering: ['a', 'none', 'b'] };
  const contents = [{ parts: [{ text: 'x' }] }];
  const body = { model: 'm', contents, generationConfig: { responseSchema } };
  const { outputFormat: format } = readRequest(parseRequest(body, { chatMaxTokens: null }));
  assert.ok(format.type === 'json-schema');
  assert.deepEqual(Object.keys(format.schema['properties'] as object), ['a', 'b', 'c']);
});

const ownNames = { type: 'object', properties: { mime_type: { type: 'string' } } };
const askedFormats: Readonly<Record<string, [config: object, read: object]>> = {
  'in the form of 2026': [
    { responseFormat: { text: { mimeType: 'APPLICATION_JSON', schema: ownNames } } },
    { responseMimeType: 'application/json', responseJsonSchema: ownNames },
  ],
  'in snake_case': [
    { response_format: { text: { mime_type: 'application/json', schema: ownNames } } },
    { responseMimeType: 'application/json', responseJsonSchema: ownNames },
  ],
  'without a schema': [
    { responseFormat: { text: { mimeType: 'TEXT_PLAIN' } } },
    { responseMimeType: 'text/plain' },
  ],
  'beside the format of an image, which stays': [
    { responseFormat: { text: {}, image: { imageSize: '4K' } } },
    { responseFormat: { image: { imageSize: '4K' } } },
  ],
  'by its older name': [{ _responseJsonSchema: ownNames }, { responseJsonSchema: ownNames }],
};
for (const [name, [generationConfig, read]] of Object.entries(askedFormats))
  test(`a format of the answer is read ${name}`, () => {
    const body = { model: 'm', contents: [{ parts: [{ text: 'x' }] }], generationConfig };
    const { body: parsed } = parseRequest(body, { chatMaxTokens: null });
    assert.deepEqual(parsed.generationConfig, read);
  });

const callings: Readonly<Record<string, [config: object, offered: string, choice: object | null]>> =
  {
    'two that it must choose from': [
      { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
      'f g',
      { type: 'required' },
    ],
    'the only one that it may call': [
      { mode: 'VALIDATED', allowedFunctionNames: ['g'] },
      'g',
      { type: 'auto' },
    ],
    'all, of which one is demanded': [
      { mode: 'ANY', allowedFunctionNames: ['g'] },
      'f g h',
      { type: 'tool', name: 'g' },
    ],
    all: [{ allowedFunctionNames: [] }, 'f g h', null],
  };
for (const [title, [functionCallingConfig, offered, choice]] of Object.entries(callings))
  test(`of the functions the model is offered ${title}`, () => {
    const functionDeclarations = ['f', 'g', 'h'].map((name) => ({ name }));
    const body = {
      model: 'm',
      contents: [{ parts: [{ text: 'x' }] }],
      tools: [{ functionDeclarations }],
      toolConfig: { functionCallingConfig },
    };
    const { tools, toolChoice } = readRequest(parseRequest(body, { chatMaxTokens: null }));
    assert.deepEqual([tools.map(({ name }) => name).join(' '), toolChoice], [offered, choice]);
  });
