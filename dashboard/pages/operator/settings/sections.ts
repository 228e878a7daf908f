// Groups and filters the configuration's settings. Pure functions.
import type { Setting } from '../../../../src/management/contract/service.ts';

export type Filter = 'all' | 'set' | 'secret';

export type Section = {
  /** First part of the settings' paths: `server`. */
  readonly name: string;
  readonly settings: readonly Setting[];
  /** Number of settings that differ from their defaults. */
  readonly changed: number;
};

/**
 * Keeps the order of the settings and skips empty sections. `text` matches paths, descriptions and
 * values.
 */
export function sectionsOf(
  settings: readonly Setting[],
  { text, show }: { readonly text: string; readonly show: Filter },
): readonly Section[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const bySection = Map.groupBy(settings, ({ path }) => sectionName(path));
  return [...bySection]
    .map(([name, all]) => ({
      name,
      settings: all.filter(
        (setting) =>
          isShown(setting, show) && words.every((word) => haystackOf(setting).includes(word)),
      ),
      changed: all.filter(isChanged).length,
    }))
    .filter((section) => section.settings.length > 0);
}

export function isChanged({ is_set: isSet, is_default: isDefault }: Setting): boolean {
  return isSet && !isDefault;
}

function isShown(setting: Setting, show: Filter): boolean {
  if (show === 'all') return true;
  return show === 'secret' ? setting.is_secret : isChanged(setting);
}

function sectionName(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? path;
}

function haystackOf({ path, description, value }: Setting): string {
  return `${path} ${description} ${valueText(value)}`.toLowerCase();
}

/** Formats a value roughly as the configuration file has it. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string'
    ? value
    : JSON.stringify(value, null, typeof value === 'object' ? 2 : undefined);
}
