// Flattens a JSON schema: resolves references and merges `allOf`, so that a value can be made from
// the result. Anything that cannot be merged or understood is refused by name, never ignored.
import { isObject, objectOf } from '../../lib/json.ts';

/** Thrown when no value can be made; `message` is a clause that says why. */
export class NoInstance extends Error {}

/** Stops all further attempts, unlike other reasons. */
export class TooLarge extends NoInstance {
  constructor() {
    super('it is too large');
  }
}

/**
 * The steps that are left for all schemas of a request. It counts down, so that multiplying
 * references, patterns or calls cannot block the process.
 */
export type StepBudget = { steps: number };

/** `root`: the schema that references point into. */
export type Scope = { readonly root: unknown; readonly budget: StepBudget };

export function spend({ budget }: Scope, steps = 1): void {
  budget.steps -= steps;
  if (budget.steps < 0) throw new TooLarge();
}

/**
 * This many names, items or characters cost one step: a small reference may stand for a long list.
 */
const itemsPerStep = 10;

export function spendItems(scope: Scope, items: number): void {
  spend(scope, items / itemsPerStep);
}

export type FlatSchema = {
  readonly types: readonly string[] | null;
  /** The only values allowed; `const` is an `enum` of one. */
  readonly values: readonly unknown[] | null;
  /** In each list at least one branch must hold; exactly one when `exclusive`. */
  readonly unions: readonly {
    readonly branches: readonly unknown[];
    readonly exclusive: boolean;
  }[];
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required: readonly string[];
  /** The only property names allowed; null: any. */
  readonly names: readonly string[] | null;
  /** Schemas that all properties without their own must match. */
  readonly additional: readonly unknown[];
  readonly items: readonly unknown[];
  readonly prefixItems: readonly unknown[] | null;
  readonly uniqueItems: boolean;
  readonly pattern: string | null;
  readonly format: string | null;
  readonly multipleOf: number | null;
  readonly hint: unknown;
  readonly bounds: Bounds;
};
export type Bounds = Readonly<Record<LowerBound, number>> & Readonly<Record<UpperBound, number>>;

type LowerBound = 'minimum' | 'exclusiveMinimum' | 'minLength' | 'minItems' | 'minProperties';
type UpperBound = 'maximum' | 'exclusiveMaximum' | 'maxLength' | 'maxItems' | 'maxProperties';

const lowerBounds: readonly LowerBound[] = [
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
];
const upperBounds: readonly UpperBound[] = [
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
];
/** Keywords that can forbid a value and that the sandbox does not evaluate. */
const refused = [
  'not',
  'if',
  'contains',
  'propertyNames',
  'patternProperties',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedProperties',
  'unevaluatedItems',
  '$dynamicRef',
];
const referencesMax = 64;

export function flatten(schema: unknown, scope: Scope, references = 0): FlatSchema {
  spend(scope);
  if (schema === true) return flattenOwn({}, scope);
  if (!isObject(schema))
    throw new NoInstance(
      schema === false ? 'a schema is `false`, which allows nothing' : 'a schema is not an object',
    );
  if (references > referencesMax) throw new NoInstance('its references never end');
  const unknownKeyword = refused.find((keyword) => keyword in schema);
  if (unknownKeyword !== undefined) throw new NoInstance(`it uses \`${unknownKeyword}\``);
  const own = flattenOwn(schema, scope);
  spend(scope, Object.keys(own.properties).length);
  spendItems(scope, sizeOf(own));
  const parts = Array.isArray(schema.allOf) ? [...schema.allOf] : [];
  if (typeof schema.$ref === 'string') parts.push(resolveReference(schema.$ref, scope));
  return parts.reduce<FlatSchema>(
    (merged, part) => merge(merged, flatten(part, scope, references + 1), scope),
    own,
  );
}

/** Returns the target of a reference such as `#/$defs/place`; undefined when there is none. */
export function resolveReference(reference: string, scope: Scope): unknown {
  if (!/^#(?:\/|$)/.test(reference))
    throw new NoInstance(`the reference \`${reference}\` does not point into the schema itself`);
  let target = scope.root;
  const names = reference.split('/').slice(1);
  spendItems(scope, names.length);
  for (const escaped of names) {
    const name = unescapeName(escaped);
    target =
      typeof target === 'object' && target !== null && Object.hasOwn(target, name)
        ? (target as Record<string, unknown>)[name]
        : undefined;
  }
  if (target === undefined)
    throw new NoInstance(`the reference \`${reference}\` points at nothing`);
  return target;
}

/**
 * Decodes a name of a JSON pointer in a URI fragment.
 * https://www.rfc-editor.org/rfc/rfc6901#section-6
 */
function unescapeName(escaped: string): string {
  try {
    return decodeURIComponent(escaped).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    throw new NoInstance(`its references hold \`${escaped}\`, which cannot be read`);
  }
}

/**
 * Merges two schemas. Costs as many steps as both contain, because a list that grows with each of
 * many parts is copied each time.
 */
export function merge(a: FlatSchema, b: FlatSchema, scope: Scope): FlatSchema {
  spendItems(scope, sizeOf(a) + sizeOf(b));
  const namesOfB = b.names && new Set(b.names);
  return {
    types: a.types && b.types ? commonTypes(a.types, b.types) : (a.types ?? b.types),
    values:
      a.values && b.values
        ? a.values.filter((value) => hasEqual(b.values!, value, scope))
        : (a.values ?? b.values),
    unions: [...a.unions, ...b.unions],
    properties: mergeProperties(a, b),
    required: [...new Set([...a.required, ...b.required])],
    names:
      a.names && namesOfB ? a.names.filter((name) => namesOfB.has(name)) : (a.names ?? b.names),
    additional: [...a.additional, ...b.additional],
    items: [...a.items, ...b.items],
    prefixItems: mergePrefix(a, b, scope),
    uniqueItems: a.uniqueItems || b.uniqueItems,
    pattern: mergeOne('pattern', a.pattern, b.pattern, scope),
    format: mergeOne('format', a.format, b.format, scope),
    multipleOf: mergeOne('multipleOf', a.multipleOf, b.multipleOf, scope),
    hint: a.hint ?? b.hint,
    bounds: mergeBounds(a.bounds, b.bounds),
  };
}

/** Counts the names and items of a flat schema. */
function sizeOf({
  values,
  unions,
  properties,
  required,
  names,
  additional,
  items,
  prefixItems,
  types,
}: FlatSchema): number {
  const lists = [values, unions, required, names, additional, items, prefixItems, types];
  return lists.reduce((sum, list) => sum + (list?.length ?? 0), Object.keys(properties).length);
}

/** `integer` is a part of `number`. */
export function allowsType(types: readonly string[] | null, type: string): boolean {
  return types === null || types.includes(type) || (type === 'integer' && types.includes('number'));
}

function flattenOwn(schema: Record<string, unknown>, scope: Scope): FlatSchema {
  const properties = objectOf(schema.properties);
  const listed = Array.isArray(schema.enum) ? schema.enum : null;
  const values = 'const' in schema ? [schema.const] : listed;
  const tuple = Array.isArray(schema.prefixItems)
    ? schema.prefixItems
    : Array.isArray(schema.items)
      ? schema.items
      : null;
  return {
    types: typeof schema.type === 'string' ? [schema.type] : strings(schema.type),
    values:
      values && 'const' in schema && listed
        ? values.filter((value) => hasEqual(listed, value, scope))
        : values,
    unions: [
      ...(Array.isArray(schema.anyOf) ? [{ branches: schema.anyOf, exclusive: false }] : []),
      ...(Array.isArray(schema.oneOf) ? [{ branches: schema.oneOf, exclusive: true }] : []),
    ],
    properties,
    required: strings(schema.required) ?? [],
    names: schema.additionalProperties === false ? Object.keys(properties) : null,
    additional: isObject(schema.additionalProperties) ? [schema.additionalProperties] : [],
    items: [Array.isArray(schema.items) ? schema.additionalItems : schema.items].filter(
      (items) => items !== undefined,
    ),
    prefixItems: tuple,
    uniqueItems: schema.uniqueItems === true,
    pattern: typeof schema.pattern === 'string' ? schema.pattern : null,
    format: typeof schema.format === 'string' ? schema.format : null,
    multipleOf: typeof schema.multipleOf === 'number' ? schema.multipleOf : null,
    hint: Array.isArray(schema.examples) ? (schema.examples[0] as unknown) : schema.default,
    bounds: ownBounds(schema),
  };
}

function ownBounds(schema: Record<string, unknown>): Bounds {
  const lower = lowerBounds.map((name) => [
    name,
    typeof schema[name] === 'number' ? schema[name] : -Infinity,
  ]);
  const upper = upperBounds.map((name) => [
    name,
    typeof schema[name] === 'number' ? schema[name] : Infinity,
  ]);
  return Object.fromEntries([...lower, ...upper]) as Bounds;
}

function mergeBounds(a: Bounds, b: Bounds): Bounds {
  const lower = lowerBounds.map((name) => [name, Math.max(a[name], b[name])]);
  const upper = upperBounds.map((name) => [name, Math.min(a[name], b[name])]);
  return Object.fromEntries([...lower, ...upper]) as Bounds;
}

function commonTypes(a: readonly string[], b: readonly string[]): string[] {
  const common = [
    ...a.filter((type) => allowsType(b, type)),
    ...b.filter((type) => allowsType(a, type)),
  ];
  return [...new Set(common)];
}

/** A property that one side does not list is additional there. */
function mergeProperties(a: FlatSchema, b: FlatSchema): FlatSchema['properties'] {
  const names = new Set([...Object.keys(a.properties), ...Object.keys(b.properties)]);
  return Object.fromEntries(
    [...names].map((name) => [name, allOf([...constraintsOn(name, a), ...constraintsOn(name, b)])]),
  );
}

/** The schemas that a property must match. */
export function constraintsOn(
  name: string,
  { properties, additional }: FlatSchema,
): readonly unknown[] {
  return Object.hasOwn(properties, name) ? [properties[name]] : additional;
}

export function allOf(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { allOf: schemas };
}

function mergePrefix(a: FlatSchema, b: FlatSchema, scope: Scope): FlatSchema['prefixItems'] {
  if ((a.prefixItems && b.items.length > 0) || (b.prefixItems && a.items.length > 0)) {
    throw new NoInstance('it gives `items` and `prefixItems` in different places for one value');
  }
  return mergeOne('prefixItems', a.prefixItems, b.prefixItems, scope);
}

function mergeOne<Value>(
  keyword: string,
  a: Value | null,
  b: Value | null,
  scope: Scope,
): Value | null {
  if (a !== null && b !== null && !isEqual(a, b, scope))
    throw new NoInstance(`it gives \`${keyword}\` twice for one value`);
  return a ?? b;
}

function strings(value: unknown): string[] | null {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : null;
}

export function hasEqual(values: readonly unknown[], value: unknown, scope: Scope): boolean {
  return values.some((other) => isEqual(other, value, scope));
}

/** Equality by JSON Schema's rule: the order of keys does not matter. */
function isEqual(a: unknown, b: unknown, scope: Scope): boolean {
  spendItems(scope, 1);
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index], scope));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  spendItems(scope, keys.length);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key], scope))
  );
}
