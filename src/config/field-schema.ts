// Walks a schema by field names. Schemas are plain JSON Schema; this reads the part of it that the configuration uses.
import type { TSchema } from 'typebox';
import { isObject } from '../lib/json.ts';

export type FieldSchema = {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly patternProperties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly items?: FieldSchema;
  readonly default?: unknown;
  readonly description?: string;
  /** A secret: never shown, never quoted. */
  readonly writeOnly?: boolean;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
};

export function asFieldSchema(schema: TSchema): FieldSchema {
  return schema;
}

/** The schema of a field or list item; null when there is no such field. */
export function childSchemaOf(schema: FieldSchema, name: string | number): FieldSchema | null {
  for (const branch of branchesOf(schema)) {
    const child = typeof name === 'number' ? branch.items : namedChildOf(branch, name);
    if (child) return child;
  }
  return null;
}

/** A schema's alternatives, or itself. */
export function branchesOf(schema: FieldSchema): readonly FieldSchema[] {
  return schema.anyOf ?? [schema];
}

export function fieldNamesOf(schema: FieldSchema): string[] {
  return branchesOf(schema).flatMap((branch) => Object.keys(branch.properties ?? {}));
}

/** What names must look like where they are free to choose; null where they are not. */
export function namePatternOf(schema: FieldSchema): string | null {
  const patterns = branchesOf(schema).flatMap((branch) => Object.keys(branch.patternProperties ?? {}));
  return patterns[0] ?? null;
}

/** Whether a secret belongs here or further in: a key is easily written where its section should stand. */
export function holdsSecret(schema: FieldSchema): boolean {
  const inner = [...Object.values(schema.properties ?? {}), ...Object.values(schema.patternProperties ?? {})];
  return schema.writeOnly === true || inner.some(holdsSecret);
}

/** The value with its missing fields added, where the schema has a default for them. */
export function withDefaults(schema: FieldSchema, value: unknown): unknown {
  if (!isObject(value)) return value;
  const filled = Object.entries(value).map(([name, child]) => {
    const childSchema = childSchemaOf(schema, name);
    return [name, childSchema ? withDefaults(childSchema, child) : child];
  });
  const missing = Object.entries(schema.properties ?? {}).filter(
    ([name, child]) => !(name in value) && child.default !== undefined,
  );
  const added = missing.map(([name, child]) => [name, withDefaults(child, structuredClone(child.default))]);
  return Object.fromEntries([...filled, ...added]) as unknown;
}

function namedChildOf(schema: FieldSchema, name: string): FieldSchema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return Object.entries(schema.patternProperties ?? {}).find(([pattern]) => new RegExp(pattern, 'u').test(name))?.[1];
}
