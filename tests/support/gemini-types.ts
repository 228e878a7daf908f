// Checks requests to Gemini against the types of `@google/genai`, by JSON schemas made from them
// that forbid unknown fields. The types are the SDK's, but the parts used here match the REST API.
import { join } from 'node:path';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { createGenerator, type SchemaGenerator } from 'ts-json-schema-generator';

const root = join(import.meta.dirname, '..', '..');
const ajv = new Ajv({ strict: false, allErrors: true, code: { optimize: false } });

/** The fields of `GenerateContentRequest` that we write, with their types. */
const fieldTypes = {
  contents: 'Content',
  systemInstruction: 'Content',
  tools: 'Tool',
  toolConfig: 'ToolConfig',
  generationConfig: 'GenerationConfig',
} as const;

/** Returns what is wrong with a request's body; [] when it matches the types. */
export function findRequestBreaches(body: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(body).flatMap(([field, value]) => {
    const type = Object.hasOwn(fieldTypes, field)
      ? fieldTypes[field as keyof typeof fieldTypes]
      : null;
    if (!type) return [`${field} is not known`];
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return values.flatMap((one) => check(type, one).map((breach) => `${field}${breach}`));
  });
}

function check(type: string, value: unknown): string[] {
  const validate = validatorOf(type);
  return validate(value) ? [] : (validate.errors ?? []).map(describe);
}

function describe({ instancePath, message, params }: ErrorObject): string {
  return `${instancePath} ${message} ${JSON.stringify(params)}`;
}

const validators = new Map<string, ValidateFunction>();
let generator: SchemaGenerator | null = null;

function validatorOf(type: string): ValidateFunction {
  generator ??= createGenerator({
    path: join(root, 'node_modules/@google/genai/dist/genai.d.ts'),
    tsconfig: join(root, 'tsconfig.json'),
    skipTypeCheck: true,
    expose: 'all',
    topRef: false,
    additionalProperties: false,
  });
  const known = validators.get(type) ?? ajv.compile(generator.createSchema(type));
  validators.set(type, known);
  return known;
}
