// Decides whether a value may match a JSON schema. Unsupported keywords (patterns, formats, rare
// ones) count as matching: `false` is certain, `true` is not. Patterns are skipped because a
// client's expression can run for hours.
import { isObject, objectOf, listOf } from '../../lib/json.ts';
import {
  allowsType,
  hasEqual,
  resolveReference,
  spend,
  spendItems,
  TooLarge,
  type Scope,
} from './schema-flatten.ts';

const depthMax = 256;

/** Returns false only when the value certainly does not match. */
export function mayMatch(schema: unknown, value: unknown, scope: Scope, depth = 0): boolean {
  spend(scope);
  if (depth > depthMax) throw new TooLarge();
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return true;
  const matches = (part: unknown, of: unknown = value) => mayMatch(part, of, scope, depth + 1);
  if (typeof schema.$ref === 'string' && !matches(resolveReference(schema.$ref, scope)))
    return false;
  if (!mayBeOfType(schema.type, value)) return false;
  if ('const' in schema && !hasEqual([schema.const], value, scope)) return false;
  if (Array.isArray(schema.enum) && !hasEqual(schema.enum, value, scope)) return false;
  if (Array.isArray(schema.allOf) && !schema.allOf.every((part) => matches(part))) return false;
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some((part) => matches(part))) return false;
  if (Array.isArray(schema.oneOf) && !schema.oneOf.some((part) => matches(part))) return false;
  if (typeof value === 'number')
    return isWithin(schema, value, ['minimum', 'maximum']) && isMultiple(schema, value);
  if (typeof value === 'string') return isAsLong(schema, value, scope);
  if (Array.isArray(value))
    return (
      isWithin(schema, value.length, ['minItems', 'maxItems']) &&
      itemsMayMatch(schema, value, matches)
    );
  if (Array.isArray(schema.required)) spendItems(scope, schema.required.length);
  return !isObject(value) || objectMayMatch(schema, value, matches);
}

type Matches = (schema: unknown, value: unknown) => boolean;

function mayBeOfType(type: unknown, value: unknown): boolean {
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : null;
  return allowsType(types, typeOf(value));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
}

function isWithin(
  schema: Record<string, unknown>,
  amount: number,
  [min, max]: readonly [string, string],
): boolean {
  const { exclusiveMinimum, exclusiveMaximum, [min]: lower, [max]: upper } = schema;
  if (typeof lower === 'number' && amount < lower) return false;
  if (typeof upper === 'number' && amount > upper) return false;
  if (min !== 'minimum') return true;
  if (typeof exclusiveMinimum === 'number' && amount <= exclusiveMinimum) return false;
  return typeof exclusiveMaximum !== 'number' || amount < exclusiveMaximum;
}

/** Counts characters only when there is a bound, because that is slow for a long text. */
function isAsLong(schema: Record<string, unknown>, text: string, scope: Scope): boolean {
  if (schema.minLength === undefined && schema.maxLength === undefined) return true;
  spendItems(scope, text.length);
  return isWithin(schema, Array.from(text).length, ['minLength', 'maxLength']);
}

function isMultiple({ multipleOf }: Record<string, unknown>, value: number): boolean {
  return typeof multipleOf !== 'number' || multipleOf <= 0 || Number.isInteger(value / multipleOf);
}

function itemsMayMatch(
  schema: Record<string, unknown>,
  values: readonly unknown[],
  matches: Matches,
): boolean {
  const tuple = listOf(schema.prefixItems);
  return values.every((value, index) =>
    matches(tuple[index] ?? (Array.isArray(schema.items) ? true : (schema.items ?? true)), value),
  );
}

function objectMayMatch(
  schema: Record<string, unknown>,
  value: Record<string, unknown>,
  matches: Matches,
): boolean {
  const names = Object.keys(value);
  if (!isWithin(schema, names.length, ['minProperties', 'maxProperties'])) return false;
  if (
    Array.isArray(schema.required) &&
    schema.required.some((name) => typeof name === 'string' && !Object.hasOwn(value, name))
  )
    return false;
  const properties = objectOf(schema.properties);
  // Patterns are not evaluated, so with `patternProperties` an unlisted name may match anything.
  // Otherwise it is an additional one.
  const additional = isObject(schema.patternProperties)
    ? true
    : (schema.additionalProperties ?? true);
  return names.every((name) =>
    matches(Object.hasOwn(properties, name) ? properties[name] : additional, value[name]),
  );
}
