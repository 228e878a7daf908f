// Makes a small valid value for a JSON schema, as a model would for a tool or a schema output. The
// value is valid by construction; a schema that is not fully understood is refused with the reason.
import { makeMatch } from './pattern-instance.ts';
import {
  allOf,
  constraintsOn,
  flatten,
  merge,
  NoInstance,
  spend,
  spendItems,
  TooLarge,
  type Bounds,
  type FlatSchema,
  type Scope,
  type StepBudget,
} from './schema-flatten.ts';
import { mayMatch } from './schema-match.ts';

/** `reason` is a clause: `it uses \`not\``. */
type SchemaInstance =
  | { readonly kind: 'instance'; readonly value: unknown }
  | { readonly kind: 'none'; readonly reason: string };

const charactersMax = 256 * 1024;
/** For all schemas of a request, with all attempts. */
const stepsMax = 20_000;
/** Tried in order, so that a recursive schema gets a shallow value. */
const depthLimits = [6, 12, 24, 48];
const lengthMax = 10_000;

/**
 * Makes a value with only the required properties and the fewest items. A scalar is the first value
 * of its `enum`, a valid example or default, or else `text`, 0 or false.
 */
export function makeInstance(schema: unknown, budget = openBudget()): SchemaInstance {
  try {
    if (JSON.stringify(schema).length > charactersMax) throw new TooLarge();
    const scope = { root: schema, budget };
    const value = firstThatWorks(depthLimits, scope, (depth) =>
      make(schema, scope, { depth, variant: 0 }),
    );
    return { kind: 'instance', value };
  } catch (error) {
    if (error instanceof NoInstance) return { kind: 'none', reason: error.message };
    throw error;
  }
}

export function openBudget(): StepBudget {
  return { steps: stepsMax };
}

/**
 * `depth`: how many more levels the value may have. `variant`: which of several different values to
 * make, for items that must differ.
 */
type InstanceOptions = { readonly depth: number; readonly variant: number };

function make(schema: unknown, scope: Scope, options: InstanceOptions): unknown {
  return makeFlat(flatten(schema, scope), scope, options);
}

function makeFlat(schema: FlatSchema, scope: Scope, options: InstanceOptions): unknown {
  if (options.depth < 0) throw new NoInstance('it contains itself without an end');
  const [union, ...unions] = schema.unions;
  if (union) return makeFromUnion({ ...schema, unions }, union, scope, options);
  if (schema.values) return makeFromValues(schema, schema.values, scope, options);
  return firstThatWorks(typesOf(schema), scope, (type) => makeOfType(type, schema, scope, options));
}

/**
 * Tries the branches in order. In a `oneOf`, skips a value that another branch could also match.
 */
function makeFromUnion(
  rest: FlatSchema,
  union: FlatSchema['unions'][number],
  scope: Scope,
  options: InstanceOptions,
): unknown {
  return firstThatWorks([...union.branches.entries()], scope, ([index, branch]) => {
    const value = makeFlat(merge(rest, flatten(branch, scope), scope), scope, {
      ...options,
      depth: options.depth - 1,
    });
    const others = union.exclusive ? union.branches.toSpliced(index, 1) : [];
    if (others.some((other) => mayMatch(other, value, scope)))
      throw new NoInstance('no value fits exactly one branch of its `oneOf`');
    return value;
  });
}

function makeFromValues(
  schema: FlatSchema,
  values: readonly unknown[],
  scope: Scope,
  { variant }: InstanceOptions,
): unknown {
  if (schema.pattern !== null || hasObjectRules(schema) || hasArrayRules(schema)) {
    throw new NoInstance('it gives `enum` or `const` together with other rules for the same value');
  }
  const bounds = toBoundSchema(schema);
  const fitting = values.filter((value) => mayMatch(bounds, value, scope));
  if (fitting.length === 0)
    throw new NoInstance('none of the values of an `enum` or `const` fits the rest of it');
  const value = fitting[variant % fitting.length];
  spendItems(scope, JSON.stringify(value).length);
  return value;
}

function toBoundSchema({ types, bounds, multipleOf }: FlatSchema): Record<string, unknown> {
  return {
    ...(types ? { type: types } : {}),
    ...(multipleOf === null ? {} : { multipleOf }),
    ...bounds,
  };
}

function typesOf(schema: FlatSchema): readonly string[] {
  if (schema.types)
    return schema.types.toSorted((a, b) => Number(a === 'null') - Number(b === 'null'));
  const { bounds } = schema;
  if (hasObjectRules(schema) || bounds.minProperties > 0) return ['object'];
  if (hasArrayRules(schema) || bounds.minItems > 0) return ['array'];
  const isNumeric =
    schema.multipleOf !== null ||
    [bounds.minimum, bounds.maximum, bounds.exclusiveMinimum, bounds.exclusiveMaximum].some(
      Number.isFinite,
    );
  return [isNumeric ? 'number' : 'string'];
}

function hasObjectRules({ properties, required, names, additional }: FlatSchema): boolean {
  return (
    Object.keys(properties).length > 0 ||
    required.length > 0 ||
    names !== null ||
    additional.length > 0
  );
}

function hasArrayRules({ items, prefixItems, uniqueItems }: FlatSchema): boolean {
  return items.length > 0 || prefixItems !== null || uniqueItems;
}

function makeOfType(
  type: string,
  schema: FlatSchema,
  scope: Scope,
  options: InstanceOptions,
): unknown {
  const hint = usableHint(type, schema, scope, options);
  if (typeof hint === 'string') spendItems(scope, hint.length);
  if (hint !== undefined) return hint;
  switch (type) {
    case 'object':
      return makeObject(schema, scope, options);
    case 'array':
      return makeArray(schema, scope, options);
    case 'string':
      return makeString(schema, scope, options);
    case 'integer':
    case 'number':
      return makeNumber(type === 'integer', schema, options);
    case 'boolean':
      return options.variant % 2 === 1;
    case 'null':
      return null;
    default:
      throw new NoInstance(`it has the unknown type \`${type}\``);
  }
}

/** The schema's example or default, if it is certainly valid. */
function usableHint(
  type: string,
  schema: FlatSchema,
  scope: Scope,
  { variant }: InstanceOptions,
): unknown {
  const { hint } = schema;
  if (variant > 0 || schema.pattern !== null || schema.format !== null) return undefined;
  if (typeof hint !== 'string' && typeof hint !== 'number' && typeof hint !== 'boolean')
    return undefined;
  return mayMatch({ ...toBoundSchema(schema), type }, hint, scope) ? hint : undefined;
}

function makeObject(
  schema: FlatSchema,
  scope: Scope,
  options: InstanceOptions,
): Record<string, unknown> {
  const { bounds, names } = schema;
  spendItems(scope, schema.required.length + (names?.length ?? 0));
  const allowed = names && new Set(names);
  const unlisted = allowed && schema.required.find((name) => !allowed.has(name));
  if (unlisted) throw new NoInstance(`it requires the property \`${unlisted}\` and forbids it`);
  const chosen = chooseNames(schema);
  if (chosen.size < bounds.minProperties || chosen.size > bounds.maxProperties)
    throw new NoInstance('it wants more or fewer properties than it allows');
  const inside = { ...options, depth: options.depth - 1 };
  const entries = [...chosen].map((name) => [
    name,
    make(allOf(constraintsOn(name, schema)), scope, inside),
  ]);
  return Object.fromEntries(entries);
}

/** The required names, and more until there are enough. */
function chooseNames({ required, names, properties, bounds }: FlatSchema): Set<string> {
  const wanted = bounded(bounds.minProperties);
  const madeUp = names
    ? []
    : Array.from({ length: Math.max(wanted, 0) }, (_, index) => `property${index + 1}`);
  const chosen = new Set(required);
  for (const name of [...(names ?? Object.keys(properties)), ...madeUp])
    if (chosen.size < wanted) chosen.add(name);
  return chosen;
}

function makeArray(schema: FlatSchema, scope: Scope, options: InstanceOptions): unknown[] {
  const { bounds, prefixItems, items } = schema;
  const length = Math.max(bounded(bounds.minItems), 0);
  if (length > bounds.maxItems) throw new NoInstance('it wants more items than it allows');
  const values: unknown[] = [];
  for (let index = 0; index < length; index++) {
    const item = prefixItems && index < prefixItems.length ? prefixItems[index] : allOf(items);
    values.push(
      make(item, scope, {
        depth: options.depth - 1,
        variant: schema.uniqueItems ? index : options.variant,
      }),
    );
  }
  if (schema.uniqueItems && new Set(values.map((value) => JSON.stringify(value))).size < length)
    throw new NoInstance('the sandbox finds too few different items for its `uniqueItems`');
  return values;
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

function makeString(schema: FlatSchema, scope: Scope, options: InstanceOptions): string {
  spendItems(scope, schema.pattern?.length ?? 0);
  const text = makeText(schema, options);
  spendItems(scope, text.length);
  return text;
}

function makeText({ pattern, format, bounds }: FlatSchema, { variant }: InstanceOptions): string {
  const min = Math.max(bounded(bounds.minLength), 0);
  if (min > bounds.maxLength) throw new NoInstance('it wants a longer string than it allows');
  if (pattern !== null) return makeMatch(pattern, { min, max: bounds.maxLength });
  const sample = format !== null && Object.hasOwn(formats, format) ? formats[format]! : null;
  if (sample !== null && sample.length >= min && sample.length <= bounds.maxLength) return sample;
  return makeWord(variant === 0 ? '' : String(variant + 1), min, bounds.maxLength);
}

/** `text` at the required length, with a number at its end when it must be unique. */
function makeWord(number: string, min: number, max: number): string {
  const length = Math.max(min, Math.min(4 + number.length, max));
  if (number.length > length)
    throw new NoInstance('it wants more different strings than its length allows');
  return 'text'.repeat(Math.ceil(length / 4)).slice(0, length - number.length) + number;
}

function makeNumber(
  isInteger: boolean,
  { bounds, multipleOf }: FlatSchema,
  { variant }: InstanceOptions,
): number {
  const step = multipleOf !== null && multipleOf > 0 ? multipleOf : isInteger ? 1 : null;
  if (isInteger && step !== null && !Number.isInteger(step))
    throw new NoInstance('it wants whole multiples of a fraction');
  const value = step === null ? pickBetween(bounds) + variant : pickMultiple(step, bounds, variant);
  const schema = { ...bounds, ...(multipleOf === null ? {} : { multipleOf }) };
  if (!mayMatch(schema, value, { root: schema, budget: { steps: 2 } }))
    throw new NoInstance('its bounds leave no number');
  return value;
}

/** The multiple nearest to zero within the bounds. */
function pickMultiple(step: number, bounds: Bounds, variant: number): number {
  const low = Math.max(
    Math.ceil(bounds.minimum / step),
    Math.floor(bounds.exclusiveMinimum / step) + 1,
  );
  const high = Math.min(
    Math.floor(bounds.maximum / step),
    Math.ceil(bounds.exclusiveMaximum / step) - 1,
  );
  const times = low > 0 ? low + variant : high < 0 ? high - variant : variant;
  return Number((times * step).toPrecision(15)) + 0;
}

function pickBetween(bounds: Bounds): number {
  const low = Math.max(bounds.minimum, bounds.exclusiveMinimum);
  const high = Math.min(bounds.maximum, bounds.exclusiveMaximum);
  if (low < 0 && high > 0) return 0;
  if (low >= 0)
    return bounds.minimum > bounds.exclusiveMinimum
      ? low
      : Number.isFinite(high)
        ? low / 2 + high / 2
        : low + 1;
  return bounds.maximum < bounds.exclusiveMaximum
    ? high
    : Number.isFinite(low)
      ? low / 2 + high / 2
      : high - 1;
}

function bounded(amount: number): number {
  if (amount > lengthMax) throw new NoInstance('it is too large');
  return amount;
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
