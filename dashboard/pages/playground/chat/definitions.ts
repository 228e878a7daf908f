// The reader's JSON: tool definitions and an output schema. Pure functions.
import type { Json, OutputSchema, ToolDefinition } from '../../../api/chat-formats/types.ts';

export type Parsed<Value> =
  | { readonly value: Value; readonly problem?: undefined }
  /** What is wrong and what to do, for the reader. */
  | { readonly problem: string; readonly value?: undefined };

export const toolsExample = JSON.stringify(
  [
    {
      name: 'get_weather',
      description: 'Returns the weather of a city.',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      },
    },
  ],
  null,
  2,
);

export const schemaExample = JSON.stringify(
  {
    type: 'object',
    properties: { answer: { type: 'string' }, confidence: { type: 'number' } },
    required: ['answer', 'confidence'],
    additionalProperties: false,
  },
  null,
  2,
);

const nothing: Json = { type: 'object', properties: {} };

/** Takes the tools of any of the three formats. Empty text: no tools. */
export function parseTools(text: string): Parsed<readonly ToolDefinition[]> {
  if (text.trim() === '') return { value: [] };
  const json = parseJson(text);
  if (json.problem !== undefined) return json;
  if (!Array.isArray(json.value)) return { problem: 'Write a list of tools: [{ "name": … }].' };
  const tools: ToolDefinition[] = [];
  for (const [index, entry] of json.value.entries()) {
    const fields = isObject(entry) && isObject(entry['function']) ? entry['function'] : entry;
    const place = `Tool ${index + 1}`;
    if (!isObject(fields)) return { problem: `${place} must be an object with a "name".` };
    const { name, description = '', parameters, input_schema: inputSchema } = fields;
    if (typeof name !== 'string' || !/^[\w.-]{1,128}$/.test(name))
      return { problem: `${place} needs a "name" of letters, digits, "_" and "-".` };
    if (tools.some((tool) => tool.name === name))
      return { problem: `Two tools are called "${name}". Rename one.` };
    if (typeof description !== 'string')
      return { problem: `The "description" of "${name}" must be a text.` };
    const schema = parameters ?? inputSchema ?? nothing;
    if (!isObject(schema))
      return { problem: `The "parameters" of "${name}" must be a JSON Schema, an object.` };
    tools.push({ name, description, parameters: schema });
  }
  return { value: tools };
}

/** Takes a JSON Schema. Empty text: none. */
export function parseSchema(
  text: string,
  { name, strict }: Omit<OutputSchema, 'schema'>,
): Parsed<OutputSchema | null> {
  if (text.trim() === '') return { value: null };
  const json = parseJson(text);
  if (json.problem !== undefined) return json;
  if (!isObject(json.value) || json.value['type'] !== 'object')
    return { problem: 'Write a JSON Schema of an object: { "type": "object", … }.' };
  return { value: { name, schema: json.value, strict } };
}

function parseJson(text: string): Parsed<unknown> {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `This is not JSON. ${(error as Error).message}.` };
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
