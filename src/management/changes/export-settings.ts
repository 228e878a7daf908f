// Writes saved settings as a configuration file, which then sets the same fields.
import { stringify } from 'yaml';
import {
  changeSettings,
  mergeUnder,
  savedFieldsIn,
  type SavedSettings,
} from '../../config/saved-settings.ts';
import { knownProviderOf } from '../../config/known-providers.ts';
import { isCredential } from './settings.ts';

/**
 * Credentials become variables: a known provider's own, else one that is named after it. `written`: the
 * file's own fields, which go before; left out: only what is saved.
 */
export function exportSettings(
  settings: SavedSettings,
  written: Readonly<Record<string, unknown>> = {},
): string {
  const credentials = savedFieldsIn(settings).filter(isCredential) as string[][];
  const masked = changeSettings(
    settings,
    credentials.map((path) => ({ path, value: `\${${variableOf(path[1]!)}}` })),
  );
  const literal = withoutReferences(settings, masked) as SavedSettings;
  return `# Written by Tollgate from its saved settings.\n${stringify(mergeUnder(literal, written))}`;
}

function variableOf(provider: string): string {
  const { keyVariable } = knownProviderOf(provider) ?? {};
  return keyVariable ?? `${provider.toUpperCase().replaceAll('-', '_')}_API_KEY`;
}

/** Saved text refers to no variables, so a `${` in it is escaped. */
function withoutReferences(saved: unknown, masked: unknown): unknown {
  if (typeof masked === 'string')
    return masked === saved ? masked.replaceAll('${', () => '$${') : masked;
  if (Array.isArray(masked))
    return masked.map((item, index) => withoutReferences((saved as unknown[])[index], item));
  if (typeof masked !== 'object' || masked === null) return masked;
  return Object.fromEntries(
    Object.entries(masked).map(([name, value]) => [
      name,
      withoutReferences((saved as Record<string, unknown>)[name], value),
    ]),
  );
}
