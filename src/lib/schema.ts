// Validation with TypeBox. A compiled check runs on every request; only when it fails, a walk finds
// the one field to name. The library's own errors list every branch of a union, which does not help
// a developer.
import type { TSchema } from 'typebox';
import { Check, Compile } from 'typebox/schema';
import { isObject } from './json.ts';

export type SchemaProblem = {
  /** `messages[0].content`, or '' for the whole value. */
  readonly path: string;
  /** A clause without its subject: `must be a string; got a number`. */
  readonly message: string;
};

/**
 * Compiles a schema into a check that returns null for a valid value, else the first problem. Give
 * union members a literal `type` or `role`, so that the walk descends into the right one.
 */
export function compileSchema(schema: TSchema): (value: unknown) => SchemaProblem | null {
  // Compiled at first use: compiling all schemas would slow the start noticeably.
  let validator: ReturnType<typeof Compile> | null = null;
  return (value) => {
    validator ??= Compile(schema);
    return validator.Check(value) ? null : problemIn(schema, value);
  };
}

/**
 * Does the same for a schema that is large and checked rarely: to compile that of the configuration
 * takes 90 ms and a megabyte, to check a value without it takes 6 ms.
 */
export function checkUncompiled(schema: TSchema, value: unknown): SchemaProblem | null {
  return Check(schema, value) ? null : problemIn(schema, value);
}

function problemIn(schema: TSchema, value: unknown): SchemaProblem {
  return findProblem(schema, value, '') ?? { path: '', message: 'is not valid' };
}

/** The part of JSON Schema that our schemas use. */
type JsonSchema = {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Its items are no objects. */
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Says in words what `pattern` allows. The error is `must be <shape>; got …`. */
  readonly shape?: string;
  /** The message for text that does not match `pattern`; by default it quotes the pattern. */
  readonly mismatch?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
};

function findProblem(schema: JsonSchema, value: unknown, path: string): SchemaProblem | null {
  if (schema.anyOf) return findUnionProblem(schema.anyOf, value, path);
  for (const part of schema.allOf ?? []) {
    const problem = findProblem(part, value, path);
    if (problem) return problem;
  }
  if ('const' in schema || schema.enum || !matchesType(schema, value)) {
    return matchesShallow(schema, value)
      ? null
      : { path, message: `must be ${describe(schema)}; got ${describeValue(value)}` };
  }
  if (schema.type === 'object' && isObject(value)) return findObjectProblem(schema, value, path);
  if (schema.type === 'array' && Array.isArray(value)) return findArrayProblem(schema, value, path);
  if (typeof value === 'number') return findNumberProblem(schema, value, path);
  if (typeof value === 'string') return findStringProblem(schema, value, path);
  return null;
}

function findObjectProblem(
  schema: JsonSchema,
  value: Record<string, unknown>,
  path: string,
): SchemaProblem | null {
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (value[name] === undefined) {
      return {
        path: join(path, name),
        message: `is required: ${describe(properties[name] ?? {})}`,
      };
    }
  }
  for (const [name, propertySchema] of Object.entries(properties)) {
    if (value[name] === undefined) continue;
    const problem = findProblem(propertySchema, value[name], join(path, name));
    if (problem) return problem;
  }
  return findExtraProblem(schema, value, path);
}

function findExtraProblem(
  schema: JsonSchema,
  value: Record<string, unknown>,
  path: string,
): SchemaProblem | null {
  const patterns = Object.entries(schema.patternProperties ?? {});
  for (const name of Object.keys(value)) {
    if (schema.properties && name in schema.properties) continue;
    const pattern = patterns.find(([source]) => new RegExp(source, 'u').test(name));
    const extra = pattern?.[1] ?? schema.additionalProperties ?? true;
    if (extra === true) continue;
    if (extra === false)
      return { path: join(path, name), message: 'is not a known field; leave it out' };
    const problem = findProblem(extra, value[name], join(path, name));
    if (problem) return problem;
  }
  return null;
}

function findArrayProblem(
  schema: JsonSchema,
  value: readonly unknown[],
  path: string,
): SchemaProblem | null {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems, items } = schema;
  if (value.length < minItems)
    return { path, message: `must have at least ${count(minItems, 'item')}; got ${value.length}` };
  if (value.length > maxItems)
    return { path, message: `must have at most ${count(maxItems, 'item')}; got ${value.length}` };
  if (!items) return null;
  for (const [index, item] of value.entries()) {
    const itemSchema = Array.isArray(items) ? items[index] : items;
    const problem = itemSchema ? findProblem(itemSchema, item, `${path}[${index}]`) : null;
    if (problem) return problem;
    if (uniqueItems && value.indexOf(item) < index)
      return {
        path: `${path}[${index}]`,
        message: `must differ from the others; got ${describeValue(item)} twice`,
      };
  }
  return null;
}

function findNumberProblem(schema: JsonSchema, value: number, path: string): SchemaProblem | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const fits =
    (minimum === undefined || value >= minimum) &&
    (maximum === undefined || value <= maximum) &&
    (exclusiveMinimum === undefined || value > exclusiveMinimum) &&
    (exclusiveMaximum === undefined || value < exclusiveMaximum);
  return fits ? null : { path, message: `must be ${describe(schema)}; got ${value}` };
}

function findStringProblem(schema: JsonSchema, value: string, path: string): SchemaProblem | null {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  if (value.length < minLength)
    return {
      path,
      message:
        minLength === 1
          ? 'must not be empty'
          : `must have at least ${count(minLength, 'character')}`,
    };
  if (value.length > maxLength)
    return {
      path,
      message: `must have at most ${count(maxLength, 'character')}; got ${value.length}`,
    };
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    return { path, message: mismatchOf(schema, value) };
  return null;
}

function mismatchOf({ pattern, shape, mismatch }: JsonSchema, value: string): string {
  if (shape !== undefined) return `must be ${shape}; got ${describeValue(value)}`;
  return mismatch ?? `must match ${pattern}`;
}

/**
 * Descends into the branch that the value was meant for. When that is unclear, lists the accepted
 * kinds.
 */
function findUnionProblem(
  branches: readonly JsonSchema[],
  value: unknown,
  path: string,
): SchemaProblem | null {
  const flat = flatten(branches);
  if (isObject(value)) {
    const tagged = findTaggedProblem(flat, value, path);
    if (tagged !== undefined) return tagged;
  }
  let first: SchemaProblem | null = null;
  for (const branch of flat.filter((candidate) => matchesType(candidate, value))) {
    const problem = findProblem(branch, value, path);
    if (!problem) return null;
    if (first === null || problem.path.length > first.path.length) first = problem;
  }
  const plain = flat.some((branch) => 'const' in branch || branch.enum);
  if (first && !(plain && first.path === path)) return first;
  return { path, message: `must be ${describe({ anyOf: flat })}; got ${describeValue(value)}` };
}

/** Returns undefined when the branches are not distinguished by a tag. */
function findTaggedProblem(
  branches: readonly JsonSchema[],
  value: Record<string, unknown>,
  path: string,
): SchemaProblem | null | undefined {
  for (const tag of ['type', 'role']) {
    const tagged = branches.filter(
      (branch) => branch.properties?.[tag] && isTag(branch.properties[tag]),
    );
    if (tagged.length < 2) continue;
    const tags = [...new Set(tagged.map((branch) => describe(branch.properties![tag]!)))];
    const objects = branches.filter((branch) => branch.type === 'object');
    if (value[tag] === undefined) {
      const isOptional = objects.some((branch) => !branch.required?.includes(tag));
      if (isOptional) continue;
      return { path: join(path, tag), message: `is required: ${either(tags)}` };
    }
    const meant = tagged.filter((branch) => matchesShallow(branch.properties![tag]!, value[tag]));
    if (meant.length === 1) return findProblem(meant[0]!, value, path);
    // An untagged branch may accept unknown tags: unknown kinds pass on the straight path.
    if (meant.length === 0 && tagged.length === objects.length)
      return {
        path: join(path, tag),
        message: `must be ${either(tags)}; got ${describeValue(value[tag])}`,
      };
  }
  return undefined;
}

/** A tag may be optional or null for one default kind. */
function isTag(schema: JsonSchema): boolean {
  if ('const' in schema || schema.enum !== undefined) return true;
  return schema.anyOf?.every((branch) => 'const' in branch || branch.type === 'null') ?? false;
}

function flatten(branches: readonly JsonSchema[]): JsonSchema[] {
  return branches.flatMap((branch) => (branch.anyOf ? flatten(branch.anyOf) : [branch]));
}

/** Compares only the value itself, not its contents. */
function matchesShallow(schema: JsonSchema, value: unknown): boolean {
  if ('const' in schema) return schema.const === value;
  if (schema.enum) return schema.enum.includes(value);
  if (schema.anyOf) return schema.anyOf.some((branch) => matchesShallow(branch, value));
  return matchesType(schema, value);
}

function matchesType(schema: JsonSchema, value: unknown): boolean {
  if ('const' in schema)
    return typeof schema.const === typeof value && isObject(value) === isObject(schema.const);
  switch (schema.type) {
    case 'string':
      return typeof value === 'string';
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return true;
  }
}

/** Returns a noun phrase: "a string", "a number from 0 to 2", "`low`, `medium` or `high`". */
function describe(schema: JsonSchema): string {
  if ('const' in schema) return `\`${JSON.stringify(schema.const).replaceAll('"', '')}\``;
  if (schema.enum) return either(schema.enum.map((value) => `\`${String(value)}\``));
  if (schema.anyOf) {
    // Null means "not given" everywhere, so it is not listed.
    const kinds = flatten(schema.anyOf).filter(
      (branch) => branch.type !== 'null' && branch.const !== null,
    );
    return either([...new Set(kinds.map(describe))]);
  }
  switch (schema.type) {
    case 'string':
      return schema.minLength === 1 ? 'a non-empty string' : 'a string';
    case 'integer':
      return `a whole number${describeRange(schema)}`;
    case 'number':
      return `a number${describeRange(schema)}`;
    case 'boolean':
      return '`true` or `false`';
    case 'null':
      return 'null';
    case 'array':
      return schema.minItems === 1 ? 'a non-empty array' : 'an array';
    case 'object':
      return 'an object';
    default:
      return 'a value';
  }
}

function describeRange({
  minimum,
  maximum,
  exclusiveMinimum,
  exclusiveMaximum,
}: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  if (maximum !== undefined) return ` of at most ${maximum}`;
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`;
  if (exclusiveMaximum !== undefined) return ` below ${exclusiveMaximum}`;
  return '';
}

/** Names the kind of a value, or quotes a short one. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return value.length <= 40 ? JSON.stringify(value) : 'a string';
  return JSON.stringify(value);
}

function either(phrases: readonly string[]): string {
  if (phrases.length < 2) return phrases[0] ?? 'a value';
  return `${phrases.slice(0, -1).join(', ')} or ${phrases.at(-1)}`;
}

function count(amount: number, noun: string): string {
  return amount === 1 ? `1 ${noun}` : `${amount} ${noun}s`;
}

function join(path: string, name: string): string {
  if (!/^[\w$-]+$/u.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}
