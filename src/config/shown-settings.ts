// The configuration that operators may see: every value except the secrets, which the schema marks.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../lib/json.ts';
import { formatPath, type FieldPath } from './config-error.ts';
import {
  asFieldSchema,
  branchesOf,
  childSchemaOf,
  fieldNamesOf,
  holdsSecret,
  type FieldSchema,
} from './field-schema.ts';
import { defaultConfig } from './load.ts';
import { ConfigFile, type Config } from './schema.ts';

type ShownSetting = {
  readonly path: string;
  /** null: not set, or a secret. */
  readonly value: unknown;
  readonly isSecret: boolean;
  readonly isSet: boolean;
  readonly isDefault: boolean;
  readonly description: string;
};

/**
 * Lists the settings in the schema's order. Sections with free names, such as `providers`, list the
 * names in use.
 */
export function showSettings(config: Config): ShownSetting[] {
  const schema = asFieldSchema(ConfigFile);
  const values = { value: asWritten(config), byDefault: asWritten(defaultConfig(config.dataDir)) };
  return fieldsOf(schema, values, []);
}

/** Telemetry as in the file: the configuration has an address for each signal. */
function asWritten({ telemetry: { operator, allowed_hosts }, ...config }: Config): object {
  if (operator === null) return { ...config, telemetry: { allowed_hosts } };
  const { traces, metrics } = operator;
  const { url = '', headers } = traces ?? metrics ?? {};
  const endpoint = url.replace(/\/v1\/(?:traces|metrics)$/, '');
  return { ...config, telemetry: { allowed_hosts, endpoint, headers } };
}

/** A setting's value, and the one without a file and variables: some do not come from the schema. */
type Values = { readonly value: unknown; readonly byDefault: unknown };

function fieldsOf(schema: FieldSchema, values: Values, path: FieldPath): ShownSetting[] {
  const { value, byDefault } = values;
  const names = isObject(value)
    ? [...new Set([...fieldNamesOf(schema), ...namedIn(schema, value)])]
    : fieldNamesOf(schema);
  if (names.length === 0 || schema.writeOnly)
    return isSection(schema) ? [] : [showField(schema, values, path)];
  return names.flatMap((name) => {
    const child = childSchemaOf(schema, name);
    if (!child) return [];
    const inner = { value: valueIn(value, name), byDefault: valueIn(byDefault, name) };
    return fieldsOf(child, inner, [...path, name]);
  });
}

function valueIn(section: unknown, name: string): unknown {
  return isObject(section) && Object.hasOwn(section, name) ? section[name] : undefined;
}

function namedIn(schema: FieldSchema, value: object): string[] {
  return isSection(schema) ? Object.keys(value) : [];
}

/** An empty section is still a section. */
function isSection(schema: FieldSchema): boolean {
  return branchesOf(schema).some((branch) => branch.patternProperties !== undefined);
}

function showField(
  schema: FieldSchema,
  { value, byDefault }: Values,
  path: FieldPath,
): ShownSetting {
  const isSecret = holdsSecret(schema);
  // For fields that are not secret, null is a value: no limit.
  const isSet = value !== undefined && !(isSecret && value === null);
  return {
    path: formatPath(path),
    value: isSet && !isSecret ? value : null,
    isSecret,
    isSet,
    isDefault: !isSet || isDeepStrictEqual(value, byDefault ?? schema.default),
    description: schema.description ?? '',
  };
}
