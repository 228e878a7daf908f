// The configuration's settings by section, and those that are looked for. Pure.
import type { Setting } from '../../../../src/dashboard-contract/operator-service.ts';

export type Show = 'all' | 'set' | 'secret';

export type Section = {
  /** The first part of its settings' paths: `server`. */
  readonly name: string;
  readonly settings: readonly Setting[];
  /** Of all its settings, those that are not as they come. */
  readonly changed: number;
};

/** In the order of the settings; sections without any that fits are left out. `text`: a part of the path, the description or the value. */
export function sectionsOf(
  settings: readonly Setting[],
  { text, show }: { readonly text: string; readonly show: Show },
): readonly Section[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const bySection = Map.groupBy(settings, ({ path }) => sectionName(path));
  return [...bySection]
    .map(([name, all]) => ({
      name,
      settings: all.filter((setting) => isShown(setting, show) && words.every((word) => haystackOf(setting).includes(word))),
      changed: all.filter(isChanged).length,
    }))
    .filter((section) => section.settings.length > 0);
}

export function isChanged({ is_set: isSet, is_default: isDefault }: Setting): boolean {
  return isSet && !isDefault;
}

function isShown(setting: Setting, show: Show): boolean {
  if (show === 'all') return true;
  return show === 'secret' ? setting.is_secret : isChanged(setting);
}

function sectionName(path: string): string {
  return /^[^.[]+/.exec(path)?.[0] ?? path;
}

function haystackOf({ path, description, value }: Setting): string {
  return `${path} ${description} ${valueText(value)}`.toLowerCase();
}

/** As the configuration's file would have it, near enough; null: none. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value, null, typeof value === 'object' ? 2 : undefined);
}
