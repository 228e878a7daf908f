// Builds a minimal value that a schema accepts.
import type { TObject } from 'typebox';
import { compileSchema } from '../../src/lib/schema.ts';

type JsonSchema = {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly pattern?: string;
};

/** Texts that match the patterns in use. */
const texts = [
  'sample',
  'sample-1234',
  'somebody@example.com',
  '2026-01-31',
  '2026-01-31T00:00:00.000Z',
  '100',
  '1.5',
  '/',
];

/** Throws when none matches: then add a matching text to the list above. */
export function sampleOf(schema: TObject): Record<string, unknown> {
  const sample = valueOf(schema) as Record<string, unknown>;
  const problem = compileSchema(schema)(sample);
  if (problem)
    throw new Error(`no sample for ${JSON.stringify(schema)}: ${problem.path} ${problem.message}`);
  return sample;
}

function valueOf(schema: JsonSchema): unknown {
  if ('const' in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return valueOf(schema.anyOf[0]!);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, valueOf(schema.properties![name]!)]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => valueOf(schema.items!));
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'string':
      return textOf(schema);
    default:
      return null;
  }
}

function textOf({ pattern, minLength = 0 }: JsonSchema): string {
  const fits = texts.find(
    (text) => (!pattern || new RegExp(pattern, 'u').test(text)) && text.length >= minLength,
  );
  return fits ?? 'x'.repeat(minLength);
}
