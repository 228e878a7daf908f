// Checks answers against the official SDKs' types, by JSON schemas made from the types of `openai`
// and `@anthropic-ai/sdk` that forbid unknown fields.
import { join } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { createGenerator, type Config, type Schema } from 'ts-json-schema-generator';
import type { ClientFormatName } from '../../src/terms/format-name.ts';
import { cacheTypes, modules } from './cached-types.ts';
import type { Json } from './plain/reading.ts';

type TypeName =
  | 'Response'
  | 'ResponseStreamEvent'
  | 'ChatCompletion'
  | 'ChatCompletionChunk'
  | 'Message'
  | 'RawMessageStreamEvent'
  | 'GenerateContentResponse';
type Wire = { readonly file: string; readonly whole: TypeName; readonly event: TypeName };

const wires: Readonly<Record<ClientFormatName, Wire>> = {
  responses: {
    file: 'openai/resources/responses/responses.d.ts',
    whole: 'Response',
    event: 'ResponseStreamEvent',
  },
  chat: {
    file: 'openai/resources/chat/completions/completions.d.ts',
    whole: 'ChatCompletion',
    event: 'ChatCompletionChunk',
  },
  messages: {
    file: '@anthropic-ai/sdk/resources/messages/messages.d.ts',
    whole: 'Message',
    event: 'RawMessageStreamEvent',
  },
  gemini: {
    file: '@google/genai/dist/genai.d.ts',
    whole: 'GenerateContentResponse',
    event: 'GenerateContentResponse',
  },
};

const annotation: Json = {
  type: 'object',
  required: ['type', 'url_citation'],
  properties: {
    type: { const: 'url_citation' },
    url_citation: { type: 'object', required: ['url', 'title', 'start_index', 'end_index'] },
  },
};

/** Fields whose wire form differs from the types, or that the types lack. */
const extensions: readonly { readonly type: string; readonly fields: Json }[] = [
  // OpenAI sends them, as recordings show, and the Open Responses schema requires them.
  {
    type: 'Response',
    fields: {
      store: { type: 'boolean' },
      presence_penalty: { type: 'number' },
      frequency_penalty: { type: 'number' },
      user: { type: ['string', 'null'] },
    },
  },
  // OpenRouter's convention: the cost in US dollars.
  ...[
    'ResponseUsage',
    'CompletionUsage',
    'Usage',
    'MessageDeltaUsage',
    'GenerateContentResponseUsageMetadata',
  ].map((type) => ({ type, fields: { cost: { type: 'number' } } })),
  // Recordings of Google's API have the tier. Its caches have no price for writes, so the count is ours.
  {
    type: 'GenerateContentResponseUsageMetadata',
    fields: { serviceTier: { type: 'string' }, cacheWriteTokenCount: { type: 'integer' } },
  },
  // Reasoning and images in Chat are conventions of other hosts (DeepSeek, OpenRouter); OpenAI's own API
  // has neither.
  { type: 'ChatCompletionMessage', fields: hostFields() },
  { type: 'ChatCompletionChunk.Choice.Delta', fields: hostFields() },
  // Google's convention for a call's thought signature.
  { type: 'ChatCompletionMessageFunctionToolCall', fields: { extra_content: { type: 'object' } } },
  {
    type: 'ChatCompletionChunk.Choice.Delta.ToolCall',
    fields: { extra_content: { type: 'object' } },
  },
  // OpenAI's search models send it in streams too; the SDK types it only for whole messages.
  {
    type: 'ChatCompletionChunk.Choice.Delta',
    fields: { annotations: { type: 'array', items: annotation } },
  },
  // The quoted text, which OpenRouter sends.
  { type: 'ChatCompletionMessage.Annotation.URLCitation', fields: { content: { type: 'string' } } },
  // OpenAI's API sends the status of every call. For custom calls, the types have it only in the
  // item list of a stored response.
  {
    type: 'ResponseCustomToolCall',
    fields: { status: { enum: ['in_progress', 'completed', 'incomplete'] } },
  },
  // Errors have the gateway's own codes. Recordings of OpenAI nest the error in the event, as the
  // SDKs read it.
  { type: 'ResponseError', fields: { code: { type: 'string' } } },
  { type: 'ResponseErrorEvent', fields: { error: { type: 'object' } } },
  // Anthropic sends the split of cache writes here too. In a translated stream only the last event
  // has it.
  {
    type: 'MessageDeltaUsage',
    fields: { cache_creation: { $ref: '#/definitions/CacheCreation' } },
  },
];

function hostFields(): Json {
  return {
    reasoning_content: { type: 'string' },
    reasoning_details: { type: 'array', items: { type: 'object' } },
    images: { type: 'array', items: { type: 'object' } },
  };
}

/** Fields that the types require but that may be absent. */
const notSent: readonly { readonly type: string; readonly field: string }[] = [
  // The SDK adds it on the client's side.
  { type: 'Response', field: 'output_text' },
  // Anthropic omits it when there are none, as in 34 of 35 recorded text answers.
  { type: 'TextBlock', field: 'citations' },
];

/**
 * Returns the breaches of a whole answer; [] when it matches its type. Each names the path, without
 * list indexes.
 */
export function findBreaches(client: ClientFormatName, body: unknown): readonly string[] {
  return check(wires[client].whole, body);
}

/**
 * Returns the breaches of a stream's events. Keep-alives and error events are not in the SDKs'
 * types and have other rules.
 */
export function findEventBreaches(
  client: ClientFormatName,
  events: readonly Json[],
): readonly string[] {
  const typed = events.filter(
    (event) => event['type'] !== 'ping' && !(client !== 'responses' && event['error']),
  );
  return typed.flatMap((event) => check(wires[client].event, event));
}

function check(type: TypeName, value: unknown): string[] {
  const validate = validatorOf(type);
  if (validate(value)) return [];
  const name = (value as Json | null)?.['type'] ?? type;
  return (validate.errors ?? []).filter(isTelling).map((error) => `${name}${describe(error)}`);
}

/** A mismatch of a union is reported by the mismatches of its members. */
function isTelling({ keyword }: ErrorObject): boolean {
  return keyword !== 'anyOf' && keyword !== 'if';
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const facts = JSON.stringify(Object.values(params as Json)[0]);
  return `${instancePath.replaceAll(/\/\d+(?=\/|$)/g, '/*')} ${message} ${facts}`;
}

const ajv = new Ajv({ strict: false, allErrors: true, code: { optimize: false } });
const validators = new Map<string, ValidateFunction>();

function validatorOf(type: TypeName): ValidateFunction {
  const known = validators.get(type) ?? ajv.compile(schemas()[type]!);
  validators.set(type, known);
  return known;
}

let made: Readonly<Record<string, Schema>> | null = null;

function schemas(): Readonly<Record<string, Schema>> {
  return (made ??= adapt(cacheTypes('official-types', makeSchemas)));
}

function makeSchemas(): Record<string, Json> {
  const config: Config = {
    skipTypeCheck: true,
    expose: 'all',
    topRef: false,
    additionalProperties: false,
  };
  const pairs = Object.values(wires).flatMap(({ file, whole, event }) => {
    const generator = createGenerator({
      ...config,
      path: join(modules, file),
      tsconfig: join(modules, '..', 'tsconfig.json'),
    });
    return [whole, event].map((type): [string, Json] => [type, generator.createSchema(type)]);
  });
  return Object.fromEntries(pairs);
}

/** Adapts the types to the wire format, and makes unions discriminated by their tag. */
function adapt(all: Record<string, Json>): Record<string, Schema> {
  for (const [name, schema] of Object.entries(all)) {
    const definitions = { ...schema['definitions'], [name]: schema } as Json;
    for (const { type, fields } of extensions)
      Object.assign(definitions[type]?.properties ?? {}, fields);
    for (const { type, field } of notSent) {
      const required = definitions[type]?.required as string[] | undefined;
      if (required?.includes(field)) required.splice(required.indexOf(field), 1);
    }
    allowNoUsage(definitions['Response']);
    splitUnions(schema, definitions);
  }
  return all;
}

/** The types omit the usage until it is known; OpenAI's API sends null. */
function allowNoUsage(response: Json | undefined): void {
  if (response)
    response['properties'].usage = { anyOf: [response['properties'].usage, { type: 'null' }] };
}

/**
 * A union whose members all have a constant `type` is checked against the one named in the value:
 * otherwise each member would complain.
 */
function splitUnions(node: unknown, definitions: Json): void {
  if (typeof node !== 'object' || node === null) return;
  for (const child of Object.values(node)) splitUnions(child, definitions);
  const union = node as Json;
  const members = (union['anyOf'] ?? []) as Json[];
  const byTag = Map.groupBy(members, (member) => tagOf(member, definitions));
  if (byTag.size < 2 || byTag.has(undefined)) return;
  delete union['anyOf'];
  Object.assign(union, {
    type: 'object',
    required: ['type'],
    properties: { type: { enum: [...byTag.keys()] } },
  });
  union['allOf'] = [...byTag].map(([tag, tagged]) => ({
    if: { required: ['type'], properties: { type: { const: tag } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
    then: tagged.length === 1 ? tagged[0] : { anyOf: tagged },
  }));
}

function tagOf(member: Json, definitions: Json): unknown {
  const name = decodeURIComponent(String(member['$ref']).slice('#/definitions/'.length));
  return (member['$ref'] ? definitions[name] : member)?.properties?.type?.const;
}
