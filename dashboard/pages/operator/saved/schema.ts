// Forms of saved settings, made from the schema of the configuration file. Pure functions.
import file from '../../../../docs/config.schema.json' with { type: 'json' };

/** The part of JSON Schema that the configuration's schema uses. */
export type Schema = {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly writeOnly?: boolean;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
};

/** What a form holds: texts, lists of texts, and groups and lists of those. Empty: not set. */
export type Value = string | string[] | Values | Values[];
export type Values = { [name: string]: Value };

export type Kind =
  | 'group'
  | 'list'
  | 'choices'
  | 'texts'
  | 'choice'
  | 'boolean'
  | 'number'
  | 'json'
  | 'secret'
  | 'text';

/** The sections with entries of their own names. */
export type Section = 'providers' | 'models' | 'image_models';

export type FormSection = Section | 'pricing' | 'search';

/** One saved field, or an entry with all of its fields. */
export type Change = { path: string[]; value?: unknown };

/** Returns the schema of a section's entries, or of a section without entries. */
export function schemaOf(section: FormSection): Schema {
  const schema = file.properties[section] as unknown as Schema;
  return schema.patternProperties ? Object.values(schema.patternProperties)[0]! : schema;
}

/**
 * Leaves out `${VARIABLE}`, which is for the file only. Of "one or a list", the list. Other choices
 * of types are written as JSON.
 */
export function plain(schema: Schema): Schema & { isNullable: boolean; isOneOrList: boolean } {
  const branches = (schema.anyOf ?? [schema]).filter(
    ({ pattern }) => !pattern?.startsWith('^\\$\\{'),
  );
  const list = branches.find(({ type }) => type === 'array');
  const others = branches.filter(({ type }) => type !== 'null');
  const chosen = list ?? (others.length === 1 ? others[0]! : { type: 'json' });
  const { description = chosen.description, default: byDefault = chosen.default } = schema;
  const isNullable = branches.some(({ type }) => type === 'null');
  const isOneOrList = list !== undefined && branches.length > 1;
  return { ...chosen, description, default: byDefault, isNullable, isOneOrList };
}

export function kindOf({ type, properties, items, enum: words, writeOnly }: Schema): Kind {
  if (properties) return 'group';
  if (type === 'array' && items) {
    const item = plain(items);
    return item.properties ? 'list' : item.enum ? 'choices' : 'texts';
  }
  if (words) return 'choice';
  if (type === 'boolean' || type === 'json') return type;
  if (type === 'number' || type === 'integer') return 'number';
  return writeOnly ? 'secret' : 'text';
}

/** Returns what the form holds for a setting; undefined: the setting is not set. */
export function toForm(schema: Schema, setting: unknown): Value {
  const shape = plain(schema);
  switch (kindOf(shape)) {
    case 'group':
      return groupToForm(shape, setting);
    case 'list': {
      const items = Array.isArray(setting) ? setting : setting === undefined ? [] : [setting];
      return items.map((item) => groupToForm(plain(shape.items!), item));
    }
    case 'choices':
    case 'texts':
      return Array.isArray(setting) ? setting.map(String) : [];
    default:
      return textOf(setting);
  }
}

export function groupToForm(schema: Schema, setting: unknown): Values {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, child]) => [
      name,
      toForm(child, (setting as Record<string, unknown> | undefined)?.[name]),
    ]),
  );
}

const nothing = 'none';

/** Numbers without an exponent, as people write them. */
export function textOf(setting: unknown): string {
  if (setting === undefined) return '';
  if (setting === null) return nothing;
  if (Array.isArray(setting)) return setting.join(', ');
  if (typeof setting === 'number' && Math.abs(setting) < 1e-6 && setting !== 0)
    return setting.toFixed(12).replace(/0+$/, '');
  return typeof setting === 'string' ? setting : JSON.stringify(setting);
}

/**
 * The inverse of `toForm`. A text that is no number stays a text: the gateway refuses it and says
 * what it expects.
 */
export function fromForm(schema: Schema, value: Value): unknown {
  const shape = plain(schema);
  switch (kindOf(shape)) {
    case 'group':
      return groupFromForm(shape, value as Values);
    case 'list': {
      const items = (value as Values[]).map(
        (item) => groupFromForm(plain(shape.items!), item) ?? {},
      );
      if (items.length === 0) return undefined;
      return shape.isOneOrList && items.length === 1 ? items[0] : items;
    }
    case 'choices':
    case 'texts':
      return (value as string[]).length === 0 ? undefined : value;
    case 'boolean':
      return value === '' ? undefined : value === 'true';
    default: {
      const text = (value as string).trim();
      if (text === '') return undefined;
      if (shape.type === 'json') return parsed(text);
      if (shape.isNullable && text === nothing) return null;
      const isNumber = kindOf(shape) === 'number' && /^-?(\d+\.?\d*|\.\d+)$/.test(text);
      return isNumber ? Number(text) : text;
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function groupFromForm({ properties = {} }: Schema, values: Values) {
  const set = Object.entries(properties).flatMap(([name, child]) => {
    const setting = fromForm(child, values[name]!);
    return setting === undefined ? [] : [[name, setting] as const];
  });
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

/** Returns the fields that differ: a saved field is replaced whole. */
export function changesBetween(
  schema: Schema,
  path: readonly string[],
  { before, after }: { readonly before: Values; readonly after: Values },
): Change[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const [old, value] = [before, after].map((values) => fromForm(child, values[name]!));
    if (JSON.stringify(old) === JSON.stringify(value)) return [];
    return [{ path: [...path, name], ...(value === undefined ? {} : { value }) }];
  });
}

/** Reads `models["gpt-5.2"].routes[0].provider`. */
export function namesIn(param: string): string[] {
  return [...param.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([\w$-]+)/gu)].map(
    ([, index, quoted, name]) => index ?? name ?? (JSON.parse(quoted!) as string),
  );
}

/** Returns where a form shows an error of the API: at the field, or at the group that it is in. */
export function placeOf(schema: Schema, path: readonly string[], param: string) {
  const names = namesIn(param);
  if (!path.every((name, index) => names[index] === name)) return undefined;
  const place: string[] = [];
  let at: Schema | undefined = schema;
  for (const name of names.slice(path.length)) {
    if (/^\d+$/.test(name) && at.items) {
      place.push(name);
      at = plain(at.items);
      continue;
    }
    // A single price is written without a list.
    if (at.items && plain(at.items).properties?.[name]) {
      place.push('0');
      at = plain(at.items);
    }
    const child: Schema | undefined = at.properties?.[name];
    if (!child) break;
    place.push(name);
    at = plain(child);
  }
  return place.length === 0 ? undefined : place.join('.');
}

const labels: Readonly<Record<string, string>> = {
  api_key: 'API key',
  base_url: 'Address',
  ended: 'Switched off',
  price_usd: 'Price (USD)',
  utc: 'Hours (UTC)',
  api: 'Wire format',
  effective_from: 'From (empty: always)',
};

/** `first_byte_ms` → `First byte (ms)` */
export function labelOf(name: string): string {
  const words = name.replace(/_ms$/, ' (ms)').replaceAll('_', ' ');
  return labels[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}
