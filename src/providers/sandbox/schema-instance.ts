// Makes a small valid value for a JSON schema, as a model would for a tool or a schema output. What the
// sandbox does not support is refused with the reason. Values of an `enum`, examples and defaults are
// taken as they are, if their type fits.
import { type JsonObject, listOf } from '../../lib/json.ts';
import { makeMatch } from './pattern-instance.ts';
import {
  allowsType,
  flatten,
  NoInstance,
  schemaOf,
  spend,
  spendItems,
  TooLarge,
  typesOf,
  type Scope,
  type StepBudget,
} from './schema-flatten.ts';

/** `reason` is a clause: `it uses \`not\``. */
type SchemaInstance =
  | { readonly kind: 'instance'; readonly value: unknown }
  | { readonly kind: 'none'; readonly reason: string };

const charactersMax = 256 * 1024;
/** For all schemas of a request, with all attempts. */
const stepsMax = 20_000;
/** Tried in order, so that a recursive schema gets a shallow value. */
const depthLimits = [6, 12, 24, 48];
/** The longest list or text that is made. */
const lengthMax = 10_000;

/**
 * Makes a value with only the required properties and the fewest items. A scalar is the first value
 * of its `enum`, an example or default, or else `text`, 0 or false.
 */
export function makeInstance(schema: unknown, budget = openBudget()): SchemaInstance {
  try {
    if (JSON.stringify(schema).length > charactersMax) throw new TooLarge();
    const scope = { root: schema, budget };
    const value = firstThatWorks(depthLimits, scope, (depth) => make(schema, scope, depth));
    return { kind: 'instance', value };
  } catch (error) {
    if (error instanceof NoInstance) return { kind: 'none', reason: error.message };
    throw error;
  }
}

export function openBudget(): StepBudget {
  return { steps: stepsMax };
}

/** `depth`: how many more levels the value may have. */
function make(given: unknown, scope: Scope, depth: number): unknown {
  if (depth < 0) throw new NoInstance('it contains itself without an end');
  const schema = flatten(given, scope);
  const union = ['anyOf', 'oneOf'].find((keyword) => Array.isArray(schema[keyword]));
  if (union !== undefined) {
    const { [union]: branches, ...rest } = schema;
    return firstThatWorks(listOf(branches), scope, (branch) =>
      make({ allOf: [rest, branch] }, scope, depth - 1),
    );
  }
  const value = chooseValue(schema);
  if (value !== undefined) {
    spendItems(scope, JSON.stringify(value).length);
    return value;
  }
  const types = schema.type === undefined ? [guessType(schema)] : typesOf(schema.type);
  return firstThatWorks(
    types.toSorted((a, b) => Number(a === 'null') - Number(b === 'null')),
    scope,
    (type) => makeOfType(type, schema, scope, depth),
  );
}

/** Returns a value that the schema names: the first one allowed, or an example or default. */
function chooseValue(schema: JsonObject): unknown {
  const types = new Set(typesOf(schema.type));
  const isOfType = (value: unknown) =>
    schema.type === undefined || allowsType(types, typeOf(value));
  if (Array.isArray(schema.enum)) {
    const value: unknown = schema.enum.find(isOfType);
    if (value !== undefined) return value;
    throw new NoInstance('none of the values of an `enum` or `const` fits the rest of it');
  }
  const hint = listOf(schema.examples)[0] ?? schema.default;
  const isScalar = ['string', 'number', 'boolean'].includes(typeof hint);
  return isScalar && isOfType(hint) ? hint : undefined;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

/** The type of a schema without one, by the keywords that it has. */
const keywordsOfTypes = {
  object: ['properties', 'required', 'additionalProperties', 'minProperties'],
  array: ['items', 'prefixItems', 'minItems'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};

function guessType(schema: JsonObject): string {
  const found = Object.entries(keywordsOfTypes).find(([, keywords]) =>
    keywords.some((keyword) => schema[keyword] !== undefined),
  );
  return found?.[0] ?? 'string';
}

function makeOfType(type: string, schema: JsonObject, scope: Scope, depth: number): unknown {
  switch (type) {
    case 'object':
      return makeObject(schema, scope, depth);
    case 'array':
      return makeArray(schema, scope, depth);
    case 'string':
      return makeText(schema, scope);
    case 'integer':
    case 'number':
      return makeNumber(schema, type === 'integer');
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      throw new NoInstance(`it has the unknown type \`${type}\``);
  }
}

/** Has the required properties. */
function makeObject(schema: JsonObject, scope: Scope, depth: number): JsonObject {
  const names = listOf(schema.required).filter((name) => typeof name === 'string');
  const { min, max } = lengthsOf('Properties', schema);
  if (names.length < min || names.length > max)
    throw new NoInstance('it wants more or fewer properties than it requires');
  return Object.fromEntries(
    names.map((name) => {
      const member = schemaOf(name, schema);
      if (member === false)
        throw new NoInstance(`it requires the property \`${name}\` and forbids it`);
      return [name, make(member, scope, depth - 1)];
    }),
  );
}

/** Older schemas have the first items in `items`. */
function makeArray(schema: JsonObject, scope: Scope, depth: number): unknown[] {
  const { prefixItems, items = true, additionalItems = true, uniqueItems } = schema;
  const { min } = lengthsOf('Items', schema);
  if (uniqueItems === true && min > 1) throw new NoInstance('it uses `uniqueItems`');
  const first = listOf(prefixItems ?? items);
  const others = Array.isArray(items) ? additionalItems : items;
  return Array.from({ length: min }, (_item, index) =>
    make(first[index] ?? others, scope, depth - 1),
  );
}

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'text@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function makeText(schema: JsonObject, scope: Scope): string {
  const { pattern, format } = schema;
  const { min, max } = lengthsOf('Length', schema);
  const known = Object.hasOwn(formats, String(format)) ? formats[String(format)]! : '';
  const sample = known !== '' && known.length >= min && known.length <= max ? known : null;
  if (typeof pattern === 'string') {
    try {
      return makeMatch(pattern, { min, max }, scope);
    } catch (error) {
      // Zod writes both for an e-mail address, and its pattern looks ahead.
      if (sample === null || error instanceof TooLarge) throw error;
    }
  }
  if (sample !== null) return sample;
  const length = Math.max(min, Math.min(4, max));
  spendItems(scope, length);
  return 'text'.repeat(Math.ceil(length / 4)).slice(0, length);
}

/** Reads how many there may be of the properties, items or characters. */
function lengthsOf(of: 'Properties' | 'Items' | 'Length', schema: JsonObject) {
  const min = Math.max(numberOr(schema[`min${of}`], 0), 0);
  const max = numberOr(schema[`max${of}`], Infinity);
  if (min > lengthMax) throw new NoInstance('it is too large');
  if (min > max) throw new NoInstance(`its \`min${of}\` is above its \`max${of}\``);
  return { min, max };
}

/**
 * Tries zero, the bounds, and what is beside and between them, or the multiples next to these. Returns
 * what is nearest to zero: a bound may be the largest number that a language knows.
 */
function makeNumber(schema: JsonObject, isInteger: boolean): number {
  const minimum = numberOr(schema.minimum, -Infinity);
  const maximum = numberOr(schema.maximum, Infinity);
  const above = numberOr(schema.exclusiveMinimum, -Infinity);
  const below = numberOr(schema.exclusiveMaximum, Infinity);
  const step = numberOr(schema.multipleOf, isInteger ? 1 : 0);
  const low = Math.max(minimum, above);
  const high = Math.min(maximum, below);
  const [value] = [0, low, high, low + 1, high - 1, low / 2 + high / 2]
    .flatMap((near) => (step > 0 ? multiplesNear(near, step) : [near]))
    .filter(
      (number) =>
        number >= minimum &&
        number > above &&
        number <= maximum &&
        number < below &&
        (!isInteger || Number.isInteger(number)),
    )
    .toSorted((a, b) => Math.abs(a) - Math.abs(b));
  if (value === undefined) throw new NoInstance('its bounds leave no number');
  return value;
}

/** Without the noise of floating point, and without a negative zero. */
function multiplesNear(near: number, step: number): number[] {
  return [Math.ceil(near / step), Math.floor(near / step)].map(
    (times) => Number((times * step).toPrecision(15)) + 0,
  );
}

/** Google's dialect has lengths as text. */
function numberOr(value: unknown, otherwise: number): number {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : otherwise;
}

/** More than a step: making an error takes as long as reading a small schema five times. */
const stepsPerFailure = 5;

/** Returns the first value that works. When none does, throws the last reason. */
function firstThatWorks<Candidate>(
  candidates: readonly Candidate[],
  scope: Scope,
  attempt: (candidate: Candidate) => unknown,
): unknown {
  let reason: NoInstance | null = null;
  for (const candidate of candidates) {
    try {
      return attempt(candidate);
    } catch (error) {
      if (!(error instanceof NoInstance) || error instanceof TooLarge) throw error;
      reason = error;
      spend(scope, stepsPerFailure);
    }
  }
  throw reason ?? new NoInstance('it allows no value');
}
