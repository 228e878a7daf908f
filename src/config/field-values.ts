// Turns the written fields into values: expands variables, drops empty sections, validates against
// the schema and adds defaults.
import { isObject } from '../lib/json.ts';
import { checkUncompiled } from '../lib/schema.ts';
import { ConfigError, formatPath, parsePath, type FieldPath } from './config-error.ts';
import type { ConfigFileText } from './config-file.ts';
import {
  asFieldSchema,
  branchesOf,
  childSchemaOf,
  holdsSecret,
  withDefaults,
  type FieldSchema,
} from './field-schema.ts';
import { mergeUnder, savedFieldOf, savedFieldsIn, type SavedSettings } from './saved-settings.ts';
import { ConfigFile } from './schema.ts';
import { findUnknownField } from './unknown-field.ts';
import { expandVariables, holdsMask, unmaskVariables } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type FieldValues = {
  readonly fields: ConfigFile;
  /** Providers whose `api_key` names an unset variable, with the variable. They are disabled. */
  readonly unsetKeys: ReadonlyMap<string, string>;
  /** Providers whose `api_key` comes from a variable that the file names. */
  readonly expandedKeys: ReadonlySet<string>;
  readonly faultAt: FaultAt;
};

/**
 * Creates the error for a field, or for an environment variable by its name. `problem` is a clause
 * without its subject; the text after a field's "; got" is hidden when it may be secret.
 */
export type FaultAt = (
  path: FieldPath | string,
  what: { readonly problem: string; readonly remedy: string },
  part?: 'name' | 'value',
) => ConfigError;

const schema = asFieldSchema(ConfigFile);

/**
 * Throws ConfigError for the first wrong field. Without a file, all fields have their defaults. Only
 * the file's values refer to variables: an operator in a browser must not read the environment.
 */
export function readFieldValues(
  file: ConfigFileText | null,
  env: Environment,
  saved: SavedSettings = {},
): FieldValues {
  const reading: Reading = { file, env, saved, expanded: new Map(), unsetKeys: new Map() };
  const root = file?.root ?? {};
  const unknown = findUnknownField(schema, root) ?? findUnknownField(schema, saved);
  if (unknown) throw faultAt(reading, unknown.path, unknown, 'name');
  const masked = savedFieldsIn(saved).find((path) =>
    holdsMask(JSON.stringify(valueAt(saved, path))),
  );
  if (masked) {
    throw faultAt(reading, masked, {
      problem: 'must not hold the characters U+E000 to U+E002',
      remedy: 'Leave them out: they are for private use, and stand for variables here.',
    });
  }
  const written = expandFields(reading, schema, root, []) as Record<string, unknown>;
  const fields = withDefaults(schema, mergeUnder(saved, written)) as ConfigFile;
  const problem = checkUncompiled(ConfigFile, fields);
  if (problem) throw schemaFault(reading, parsePath(problem.path), problem.message);
  const { unsetKeys } = reading;
  return {
    fields,
    unsetKeys,
    expandedKeys: expandedKeysOf(reading),
    faultAt: (...fault) => faultAt(reading, ...fault),
  };
}

type Reading = {
  readonly file: ConfigFileText | null;
  readonly env: Environment;
  readonly saved: SavedSettings;
  /** The variables in a field's value, by its path. */
  readonly expanded: Map<string, readonly string[]>;
  readonly unsetKeys: Map<string, string>;
};

function faultAt(
  reading: Reading,
  ...[path, { problem, remedy }, part = 'value']: Parameters<FaultAt>
): ConfigError {
  if (typeof path === 'string') return new ConfigError({ field: path, problem, remedy });
  const isSaved = isSet(reading.saved, path) && !isSet(reading.file?.root ?? {}, path);
  return new ConfigError({
    location: isSaved ? null : (reading.file?.locationOf(path, part) ?? null),
    field: unmaskVariables(formatPath(path)),
    problem: withoutSecrets(reading, path, problem),
    remedy,
  });
}

/** True when the field that the path is in has a value there, or some field below the path. */
function isSet(root: Readonly<Record<string, unknown>>, path: FieldPath): boolean {
  const field = savedFieldOf(path) ?? path;
  return valueAt(root, field) !== undefined;
}

function valueAt(root: Readonly<Record<string, unknown>>, path: FieldPath): unknown {
  return path.reduce<unknown>(
    (at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined),
    root,
  );
}

/**
 * The found value follows "; got". It is hidden for secrets and for values from the environment.
 */
function withoutSecrets({ expanded }: Reading, path: FieldPath, problem: string): string {
  const [expected] = problem.split('; got ');
  if (expected === problem) return problem;
  const variables = expanded.get(formatPath(path));
  if (variables)
    return `${expected}; got what the environment variable ${variables.join(' with ')} holds`;
  return isSecret(path) ? `${expected}; got something else (not shown, it is a secret)` : problem;
}

/** True when the field, a field in it or a section that it is in is a secret. */
function isSecret(path: FieldPath): boolean {
  const at = schemaAt(path);
  const isIn = (length: number) => schemaAt(path.slice(0, length))?.writeOnly === true;
  return (at !== null && holdsSecret(at)) || path.some((_, index) => isIn(index));
}

function expandFields(
  reading: Reading,
  at: FieldSchema | null,
  value: unknown,
  path: FieldPath,
): unknown {
  if (typeof value === 'string') return expandText(reading, at, value, path);
  if (Array.isArray(value))
    return value.map((item, index) => expandField(reading, at, item, [...path, index]));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(
    ([name, child]) => [name, expandField(reading, at, child, [...path, name])] as const,
  );
  return Object.fromEntries(entries.filter(([, child]) => child !== undefined));
}

/** YAML reads a section with only comments as null; it counts as left out. */
function expandField(
  reading: Reading,
  parent: FieldSchema | null,
  value: unknown,
  path: FieldPath,
): unknown {
  const child = parent && childSchemaOf(parent, path.at(-1)!);
  const isSection =
    child !== null && branchesOf(child).every(({ type }) => type === 'object' || type === 'array');
  return value === null && isSection ? undefined : expandFields(reading, child, value, path);
}

function expandText(
  reading: Reading,
  at: FieldSchema | null,
  text: string,
  path: FieldPath,
): unknown {
  if (text.includes('\0')) {
    throw faultAt(reading, path, {
      problem: 'must hold no NUL character',
      remedy: 'No database takes one in a text: leave it out.',
    });
  }
  const expanded = expandVariables(text, reading.env);
  switch (expanded.kind) {
    case 'plain':
      return expanded.text;
    case 'expanded':
      reading.expanded.set(formatPath(path), expanded.variables);
      return asType(at, expanded.text);
    case 'unset':
      return unsetVariable(reading, path, expanded.variable);
    case 'malformed':
      break;
  }
  throw faultAt(reading, path, {
    problem: 'must name a variable as `${NAME}`; got `${` with something else',
    remedy: 'Use letters, digits and underscores only, or write `$${` for a literal `${`.',
  });
}

/** Converts a variable's text when the schema expects a number or a boolean. */
function asType(at: FieldSchema | null, text: string): unknown {
  const types =
    at === null ? [] : branchesOf(at).map(({ type, enum: words }) => (words ? 'string' : type));
  if (types.includes('string')) return text;
  if ((types.includes('integer') || types.includes('number')) && /^-?\d+(\.\d+)?$/u.test(text))
    return Number(text);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return types.includes('null') && text === 'null' ? null : text;
}

function unsetVariable(reading: Reading, path: FieldPath, variable: string): undefined {
  const [section, name, field] = path;
  if (section !== 'providers' || field !== 'api_key' || path.length !== 3) {
    throw faultAt(reading, path, {
      problem: `needs the environment variable ${variable}, which is not set`,
      remedy: `Set ${variable}, or write the value itself. Only a provider's \`api_key\` may name an unset variable: it switches the provider off.`,
    });
  }
  reading.unsetKeys.set(String(name), variable);
}

function expandedKeysOf({ expanded }: Reading): Set<string> {
  const paths = [...expanded.keys()].map(parsePath);
  return new Set(
    paths
      .filter(([section, , field]) => section === 'providers' && field === 'api_key')
      .map(([, name]) => String(name)),
  );
}

function schemaFault(reading: Reading, path: FieldPath, problem: string): ConfigError {
  return faultAt(reading, path, { problem, remedy: remedyOf(schemaAt(path)) });
}

function remedyOf(at: FieldSchema | null): string {
  const meaning = at?.description
    ? `About the field: ${at.description}`
    : 'docs/configuration.md describes it.';
  if (at?.default === undefined || isObject(at.default)) return meaning;
  return `${meaning} Default: ${JSON.stringify(at.default)}.`;
}

function schemaAt(path: FieldPath): FieldSchema | null {
  return path.reduce<FieldSchema | null>((at, step) => at && childSchemaOf(at, step), schema);
}
