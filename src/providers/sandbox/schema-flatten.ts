// Flattens a JSON schema: resolves its reference and merges its `allOf`, so that a value can be made
// from the keywords that are left. What cannot be merged is refused by name.
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../lib/json.ts';

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

/** Returns a schema without `$ref` and `allOf`, and with an `enum` in place of `const`. */
export function flatten(schema: unknown, scope: Scope, references = 0): JsonObject {
  spend(scope);
  if (schema === true) return {};
  if (!isObject(schema))
    throw new NoInstance(
      schema === false ? 'a schema is `false`, which allows nothing' : 'a schema is not an object',
    );
  if (references > referencesMax) throw new NoInstance('its references never end');
  const unsupported = refused.find((keyword) => keyword in schema);
  if (unsupported !== undefined) throw new NoInstance(`it uses \`${unsupported}\``);
  spendItems(scope, sizeOf(schema));
  const { $ref: reference, allOf, const: only, ...own } = schema;
  const parts = [...listOf(allOf)];
  if (typeof reference === 'string') parts.push(resolveReference(reference, scope));
  if (only !== undefined) parts.push({ enum: [only] });
  return parts.reduce<JsonObject>(
    (merged, part) => merge(merged, flatten(part, scope, references + 1), scope),
    own,
  );
}

/**
 * Returns the target of a reference such as `#/$defs/place`.
 * https://www.rfc-editor.org/rfc/rfc6901#section-6
 */
function resolveReference(reference: string, scope: Scope): unknown {
  if (!/^#(?:\/|$)/.test(reference))
    throw new NoInstance(`the reference \`${reference}\` does not point into the schema itself`);
  const names = reference.split('/').slice(1);
  spendItems(scope, names.length);
  let target = scope.root;
  try {
    for (const name of names.map(decodeURIComponent)) {
      const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
      // Names of fields, and places in lists.
      const holder = Object(target) as JsonObject;
      target = Object.hasOwn(holder, key) ? holder[key] : undefined;
    }
  } catch {
    throw new NoInstance(`the reference \`${reference}\` cannot be read`);
  }
  if (target === undefined)
    throw new NoInstance(`the reference \`${reference}\` points at nothing`);
  return target;
}

/**
 * Merges two flat schemas. Costs as many steps as both contain, because a list that grows with each
 * of many parts is copied each time.
 */
function merge(a: JsonObject, b: JsonObject, scope: Scope): JsonObject {
  spendItems(scope, sizeOf(a) + sizeOf(b));
  if ((a.prefixItems && b.items) || (b.prefixItems && a.items))
    throw new NoInstance('it gives `items` and `prefixItems` in different places for one value');
  const shared = Object.keys(b)
    .filter((keyword) => Object.hasOwn(a, keyword))
    .map((keyword) => [keyword, mergeKeyword(keyword, [a[keyword], b[keyword]], scope)]);
  return {
    ...b,
    ...a,
    ...(Object.fromEntries(shared) as JsonObject),
    ...((a.properties ?? b.properties) !== undefined && { properties: mergeProperties(a, b) }),
  };
}

/** Counts the keywords, and what is in their lists and in `properties`. */
function sizeOf(schema: JsonObject): number {
  return Object.values(schema).reduce<number>(
    (sum, value) => sum + (Array.isArray(value) ? value.length : 1),
    Object.keys(objectOf(schema.properties)).length,
  );
}

type Both = readonly [a: unknown, b: unknown];
type Merge = (both: Both, scope: Scope) => unknown;

const higher: Merge = ([a, b]) => Math.max(Number(a), Number(b));
const lower: Merge = ([a, b]) => Math.min(Number(a), Number(b));
const allOf: Merge = (both) => ({ allOf: both });
const same: Merge = ([a, b], scope) => (intersect([a], [b], scope).length === 1 ? a : undefined);

const merges: Readonly<Record<string, Merge>> = {
  type: ([a, b]) => commonTypes(typesOf(a), typesOf(b)),
  enum: ([a, b], scope) => intersect(listOf(a), listOf(b), scope),
  required: ([a, b]) => [...new Set([...listOf(a), ...listOf(b)])],
  additionalProperties: allOf,
  items: allOf,
  uniqueItems: ([a, b]) => a === true || b === true,
  minimum: higher,
  exclusiveMinimum: higher,
  minLength: higher,
  minItems: higher,
  minProperties: higher,
  maximum: lower,
  exclusiveMaximum: lower,
  maxLength: lower,
  maxItems: lower,
  maxProperties: lower,
  pattern: same,
  format: same,
  multipleOf: same,
  prefixItems: same,
  anyOf: same,
  oneOf: same,
};

/** Merges two values of a keyword. One without a rule, such as `description`, keeps its first value. */
function mergeKeyword(keyword: string, both: Both, scope: Scope): unknown {
  if (!Object.hasOwn(merges, keyword)) return both[0];
  const merged = merges[keyword]!(both, scope);
  if (merged === undefined) throw new NoInstance(`it gives \`${keyword}\` twice for one value`);
  return merged;
}

/** Google's dialect has them in capitals. */
export function typesOf(type: unknown): readonly string[] {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return types.map((one) => textOf(one).toLowerCase());
}

function commonTypes(a: readonly string[], b: readonly string[]): string[] {
  const [one, other] = [new Set(a), new Set(b)];
  return [...one.union(other)].filter((type) => allowsType(one, type) && allowsType(other, type));
}

/** `integer` is a part of `number`. */
export function allowsType(types: ReadonlySet<string>, type: string): boolean {
  return types.has(type) || (type === 'integer' && types.has('number'));
}

function intersect(a: readonly unknown[], b: readonly unknown[], scope: Scope): unknown[] {
  const texts = new Set(b.map((value) => JSON.stringify(value)));
  spendItems(scope, JSON.stringify([a, b]).length);
  return a.filter((value) => texts.has(JSON.stringify(value)));
}

function mergeProperties(a: JsonObject, b: JsonObject): JsonObject {
  const names = [...Object.keys(objectOf(a.properties)), ...Object.keys(objectOf(b.properties))];
  return Object.fromEntries(
    names.map((name) => [name, { allOf: [schemaOf(name, a), schemaOf(name, b)] }]),
  );
}

/** The schema of a property. One that is not listed is additional. */
export function schemaOf(name: string, schema: JsonObject): unknown {
  const properties = objectOf(schema.properties);
  return Object.hasOwn(properties, name) ? properties[name] : (schema.additionalProperties ?? true);
}
