// Whether a value can match a JSON schema. What it does not work out (patterns, formats, rare keywords) counts as matching: `false`
// is certain, `true` is not. Patterns are left out on purpose: a stranger's expression on a stranger's text can run for hours.
import { isObject } from '../../lib/json.ts';
import { allowsType, hasEqual, resolveReference, spend, spendItems, TooLarge, type Scope } from './schema-flatten.ts';

const depthMax = 256;

/** `false` means that the value certainly does not match. */
export function mayMatch(schema: unknown, value: unknown, scope: Scope, depth = 0): boolean {
  spend(scope);
  if (depth > depthMax) throw new TooLarge();
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return true;
  const matches = (part: unknown, of: unknown = value) => mayMatch(part, of, scope, depth + 1);
  if (typeof schema.$ref === 'string' && !matches(resolveReference(schema.$ref, scope))) return false;
  if (!mayBeOfType(schema.type, value)) return false;
  if ('const' in schema && !hasEqual([schema.const], value, scope)) return false;
  if (Array.isArray(schema.enum) && !hasEqual(schema.enum, value, scope)) return false;
  if (Array.isArray(schema.allOf) && !schema.allOf.every((part) => matches(part))) return false;
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some((part) => matches(part))) return false;
  if (Array.isArray(schema.oneOf) && !schema.oneOf.some((part) => matches(part))) return false;
  if (typeof value === 'number') return isWithin(schema, value, ['minimum', 'maximum']) && isMultiple(schema, value);
  if (typeof value === 'string') return isAsLong(schema, value, scope);
  if (Array.isArray(value))
    return isWithin(schema, value.length, ['minItems', 'maxItems']) && itemsMayMatch(schema, value, matches);
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

function isWithin(schema: Record<string, unknown>, amount: number, [min, max]: readonly [string, string]): boolean {
  const { exclusiveMinimum, exclusiveMaximum, [min]: lower, [max]: upper } = schema;
  if (typeof lower === 'number' && amount < lower) return false;
  if (typeof upper === 'number' && amount > upper) return false;
  if (min !== 'minimum') return true;
  if (typeof exclusiveMinimum === 'number' && amount <= exclusiveMinimum) return false;
  return typeof exclusiveMaximum !== 'number' || amount < exclusiveMaximum;
}

/** Counts characters, which takes long of a long text, only where there is a bound. */
function isAsLong(schema: Record<string, unknown>, text: string, scope: Scope): boolean {
  if (schema.minLength === undefined && schema.maxLength === undefined) return true;
  spendItems(scope, text.length);
  return isWithin(schema, Array.from(text).length, ['minLength', 'maxLength']);
}

function isMultiple({ multipleOf }: Record<string, unknown>, value: number): boolean {
  return typeof multipleOf !== 'number' || multipleOf <= 0 || Number.isInteger(value / multipleOf);
}

function itemsMayMatch(schema: Record<string, unknown>, values: readonly unknown[], matches: Matches): boolean {
  const tuple: readonly unknown[] = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  return values.every((value, index) =>
    matches(tuple[index] ?? (Array.isArray(schema.items) ? true : (schema.items ?? true)), value),
  );
}

function objectMayMatch(schema: Record<string, unknown>, value: Record<string, unknown>, matches: Matches): boolean {
  const names = Object.keys(value);
  if (!isWithin(schema, names.length, ['minProperties', 'maxProperties'])) return false;
  if (Array.isArray(schema.required) && schema.required.some((name) => typeof name === 'string' && !Object.hasOwn(value, name)))
    return false;
  const properties = isObject(schema.properties) ? schema.properties : {};
  // Without `patternProperties`, whose patterns are not tried, a name that is not listed is an additional one.
  const additional = isObject(schema.patternProperties) ? true : (schema.additionalProperties ?? true);
  return names.every((name) => matches(Object.hasOwn(properties, name) ? properties[name] : additional, value[name]));
}
