// Whether what a client is given is what the official SDKs' types say: JSON schemas made from the types of `openai` and
// `@anthropic-ai/sdk`, closed against fields that they do not know.
import { join } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { createGenerator, type Config, type Schema } from 'ts-json-schema-generator';
import type { ClientFormatName } from '../../src/canonical/format-name.ts';
import { keepTypes, modules } from './kept-types.ts';
import type { Json } from './plain/reading.ts';

type TypeName =
  | 'Response'
  | 'ResponseStreamEvent'
  | 'ChatCompletion'
  | 'ChatCompletionChunk'
  | 'Message'
  | 'RawMessageStreamEvent';
type Wire = { readonly file: string; readonly whole: TypeName; readonly event: TypeName };

const wires: Readonly<Record<ClientFormatName, Wire>> = {
  responses: { file: 'openai/resources/responses/responses.d.ts', whole: 'Response', event: 'ResponseStreamEvent' },
  chat: { file: 'openai/resources/chat/completions/completions.d.ts', whole: 'ChatCompletion', event: 'ChatCompletionChunk' },
  messages: { file: '@anthropic-ai/sdk/resources/messages/messages.d.ts', whole: 'Message', event: 'RawMessageStreamEvent' },
};

const annotation: Json = {
  type: 'object',
  required: ['type', 'url_citation'],
  properties: {
    type: { const: 'url_citation' },
    url_citation: { type: 'object', required: ['url', 'title', 'start_index', 'end_index'] },
  },
};

/** Fields that are on the wire and not in the types, or not as they are there. */
const extensions: readonly { readonly type: string; readonly fields: Json }[] = [
  // OpenAI sends them, as the recordings show, and the Open Responses schema requires them.
  {
    type: 'Response',
    fields: {
      store: { type: 'boolean' },
      presence_penalty: { type: 'number' },
      frequency_penalty: { type: 'number' },
      user: { type: ['string', 'null'] },
    },
  },
  // Reasoning in Chat is a convention of other hosts (DeepSeek, OpenRouter): OpenAI's own API shows none.
  { type: 'ChatCompletionMessage', fields: reasoningFields() },
  { type: 'ChatCompletionChunk.Choice.Delta', fields: reasoningFields() },
  // Google's convention for the thought signature of a call.
  { type: 'ChatCompletionMessageFunctionToolCall', fields: { extra_content: { type: 'object' } } },
  { type: 'ChatCompletionChunk.Choice.Delta.ToolCall', fields: { extra_content: { type: 'object' } } },
  // Sent by OpenAI's own models that search; the SDK has typed them for a whole message alone.
  { type: 'ChatCompletionChunk.Choice.Delta', fields: { annotations: { type: 'array', items: annotation } } },
  // The words of the page, which OpenRouter sends.
  { type: 'ChatCompletionMessage.Annotation.URLCitation', fields: { content: { type: 'string' } } },
  // OpenAI's API tells the status of every call; of custom ones the types know it in the list of a stored response's items alone.
  { type: 'ResponseCustomToolCall', fields: { status: { enum: ['in_progress', 'completed', 'incomplete'] } } },
  // Errors have the gateway's own codes. OpenAI was recorded with the error nested in the event, as the SDKs read it.
  { type: 'ResponseError', fields: { code: { type: 'string' } } },
  { type: 'ResponseErrorEvent', fields: { error: { type: 'object' } } },
  // Anthropic sends the split of the cache writes here too; only the last event of a translated stream knows it.
  { type: 'MessageDeltaUsage', fields: { cache_creation: { $ref: '#/definitions/CacheCreation' } } },
];

function reasoningFields(): Json {
  return { reasoning_content: { type: 'string' }, reasoning_details: { type: 'array', items: { type: 'object' } } };
}

/** Fields that the types require and that need not be sent. */
const notSent: readonly { readonly type: string; readonly field: string }[] = [
  // The SDK adds it itself, on the client's side.
  { type: 'Response', field: 'output_text' },
  // Anthropic leaves it out where there are none: 34 of 35 recorded answers with text have none.
  { type: 'TextBlock', field: 'citations' },
];

/** What is wrong with a whole answer; [] when it is of its type. Each breach names the place, without the numbers of list entries. */
export function findBreaches(client: ClientFormatName, body: unknown): readonly string[] {
  return check(wires[client].whole, body);
}

/** What is wrong with the events of a stream. Keep-alives and error events are not in the SDKs' types, and have rules of their own. */
export function findEventBreaches(client: ClientFormatName, events: readonly Json[]): readonly string[] {
  const typed = events.filter((event) => event['type'] !== 'ping' && !(client !== 'responses' && event['error']));
  return typed.flatMap((event) => check(wires[client].event, event));
}

function check(type: TypeName, value: unknown): string[] {
  const validate = validatorOf(type);
  if (validate(value)) return [];
  const name = (value as Json | null)?.['type'] ?? type;
  return (validate.errors ?? []).filter(isTelling).map((error) => `${name}${describe(error)}`);
}

/** That a union does not fit is said by what is wrong with its members. */
function isTelling({ keyword }: ErrorObject): boolean {
  return keyword !== 'anyOf' && keyword !== 'if';
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const facts = JSON.stringify(Object.values(params as Json)[0]);
  return `${instancePath.replaceAll(/\/\d+(?=\/|$)/g, '/*')} ${message} ${facts}`;
}

const ajv = new Ajv({ strict: false, allErrors: true });
const validators = new Map<string, ValidateFunction>();

function validatorOf(type: TypeName): ValidateFunction {
  const known = validators.get(type) ?? ajv.compile(schemas()[type]!);
  validators.set(type, known);
  return known;
}

let made: Readonly<Record<string, Schema>> | null = null;

function schemas(): Readonly<Record<string, Schema>> {
  return (made ??= adapt(keepTypes('official-types', makeSchemas)));
}

function makeSchemas(): Record<string, Json> {
  const config: Config = { skipTypeCheck: true, expose: 'all', topRef: false, additionalProperties: false };
  const pairs = Object.values(wires).flatMap(({ file, whole, event }) => {
    const generator = createGenerator({ ...config, path: join(modules, file), tsconfig: join(modules, '..', 'tsconfig.json') });
    return [whole, event].map((type): [string, Json] => [type, generator.createSchema(type)]);
  });
  return Object.fromEntries(pairs);
}

/** Fits the types to the wire, and lets a union be told by its tag. */
function adapt(all: Record<string, Json>): Record<string, Schema> {
  for (const [name, schema] of Object.entries(all)) {
    const definitions = { ...schema['definitions'], [name]: schema } as Json;
    for (const { type, fields } of extensions) Object.assign(definitions[type]?.properties ?? {}, fields);
    for (const { type, field } of notSent) {
      const required = definitions[type]?.required as string[] | undefined;
      if (required?.includes(field)) required.splice(required.indexOf(field), 1);
    }
    allowNoUsage(definitions['Response']);
    splitUnions(schema, definitions);
  }
  return all;
}

/** The types leave the usage out until it is known; OpenAI's API says null. */
function allowNoUsage(response: Json | undefined): void {
  if (response) response['properties'].usage = { anyOf: [response['properties'].usage, { type: 'null' }] };
}

/** A union whose members all have a constant `type` is checked against the member that the value names: else each would complain. */
function splitUnions(node: unknown, definitions: Json): void {
  if (typeof node !== 'object' || node === null) return;
  for (const child of Object.values(node)) splitUnions(child, definitions);
  const union = node as Json;
  const members = (union['anyOf'] ?? []) as Json[];
  const byTag = Map.groupBy(members, (member) => tagOf(member, definitions));
  if (byTag.size < 2 || byTag.has(undefined)) return;
  delete union['anyOf'];
  Object.assign(union, { type: 'object', required: ['type'], properties: { type: { enum: [...byTag.keys()] } } });
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
