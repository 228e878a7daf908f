// Walks a schema by field names. Schemas are plain JSON Schema; this supports the keywords that the
// configuration uses.
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
  /** Says in words what `pattern` allows. The error is `must be <shape>`. */
  readonly shape?: string;
  /** Says in words which names `patternProperties` allows. */
  readonly names?: string;
  readonly minimum?: number;
  readonly maximum?: number;
};

export function asFieldSchema(schema: TSchema): FieldSchema {
  return schema;
}

/** Returns the schema of a field or list item, or null when there is no such field. */
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

/** Returns in words which names are allowed, or null when the names are fixed. */
export function namesOf(schema: FieldSchema): string | null {
  return branchesOf(schema).find(({ names }) => names !== undefined)?.names ?? null;
}

/**
 * Returns true when the field is a secret or contains one: people often write a key in place of its
 * section.
 */
export function holdsSecret(schema: FieldSchema): boolean {
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...Object.values(schema.patternProperties ?? {}),
  ];
  return schema.writeOnly === true || inner.some(holdsSecret);
}

/** Returns the value with missing fields set to the schema's defaults. */
export function withDefaults(schema: FieldSchema, value: unknown): unknown {
  if (!isObject(value)) return value;
  const filled = Object.entries(value).map(([name, child]) => {
    const childSchema = childSchemaOf(schema, name);
    return [name, childSchema ? withDefaults(childSchema, child) : child];
  });
  const missing = Object.entries(schema.properties ?? {}).filter(
    ([name, child]) => !(name in value) && child.default !== undefined,
  );
  const added = missing.map(([name, child]) => [
    name,
    withDefaults(child, structuredClone(child.default)),
  ]);
  return Object.fromEntries([...filled, ...added]) as unknown;
}

function namedChildOf(schema: FieldSchema, name: string): FieldSchema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return Object.entries(schema.patternProperties ?? {}).find(([pattern]) =>
    new RegExp(pattern, 'u').test(name),
  )?.[1];
}
