// Settings that operators save in the database: the same fields as in the file, of the sections that
// change while the gateway runs. A field that the file sets wins.
import { isObject } from '../lib/json.ts';
import type { FieldPath } from './config-error.ts';

/**
 * The sections that change without a restart, with the number of names on the path of a field:
 * `providers.openai.base_url` has three. A field is replaced whole, so that the two never mix in one
 * price.
 */
const depths = {
  providers: 3,
  models: 3,
  image_models: 3,
  aliases: 2,
  pricing: 2,
  search: 2,
} as const;

export const liveSections = Object.keys(depths) as readonly LiveSection[];

export type LiveSection = keyof typeof depths;

/** The saved fields, as they would stand in the file, without references to variables. */
export type SavedSettings = Readonly<
  Partial<Record<LiveSection, Readonly<Record<string, unknown>>>>
>;

/** Returns the fields of both; where both set one, the file's. */
export function mergeUnder(
  saved: SavedSettings,
  written: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...written };
  for (const section of liveSections) {
    if (saved[section] === undefined) continue;
    merged[section] = mergeFields(saved[section], written[section], depths[section] - 1);
  }
  return merged;
}

function mergeFields(saved: unknown, written: unknown, levels: number): unknown {
  if (written === undefined) return saved;
  if (levels === 0 || !isObject(saved) || !isObject(written)) return written;
  const merged = { ...saved, ...written };
  for (const name of Object.keys(saved))
    if (Object.hasOwn(written, name))
      merged[name] = mergeFields(saved[name], written[name], levels - 1);
  return merged;
}

/** Returns the path of the field that this path is, or is in; null: it is above a field. */
export function savedFieldOf(path: FieldPath): FieldPath | null {
  const [section] = path;
  if (!liveSections.includes(section as LiveSection)) return null;
  const depth = depths[section as LiveSection];
  return path.length < depth ? null : path.slice(0, depth);
}

/** Lists the paths of the fields that are set in these sections. */
export function savedFieldsIn(root: Readonly<Record<string, unknown>>): FieldPath[] {
  return liveSections.flatMap((section) => fieldsBelow(root[section], [section], depths[section]));
}

function fieldsBelow(value: unknown, path: FieldPath, depth: number): FieldPath[] {
  if (value === undefined) return [];
  if (path.length === depth || !isObject(value)) return [path];
  return Object.keys(value).flatMap((name) => fieldsBelow(value[name], [...path, name], depth));
}

/** Sets the field, entry or section at a path; without a value: removes it. */
export type SettingsChange = { readonly path: readonly string[]; readonly value?: unknown };

/** Returns new settings. The last name's parents are made as needed, and removed when empty. */
export function changeSettings(
  saved: SavedSettings,
  changes: readonly SettingsChange[],
): SavedSettings {
  return changes.reduce<SavedSettings>(
    (settings, { path, value }) => setAt(settings, path, value) ?? {},
    saved,
  );
}

function setAt(target: unknown, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const { [name]: inner, ...others } = isObject(target) ? target : {};
  const changed = setAt(inner, rest, value);
  if (changed !== undefined) return { ...others, [name]: changed };
  return Object.keys(others).length > 0 ? others : undefined;
}
