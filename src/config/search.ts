// Resolves which providers answer web searches, and in which order: the file's list, or all enabled
// search providers.
import { isSearchKind, searchKindNames } from '../terms/provider-kind.ts';
import type { FieldPath } from './config-error.ts';
import { checkDecimals } from './decimals.ts';
import type { FieldValues } from './field-values.ts';
import { knownProviderOf, knownProviders } from './known-providers.ts';
import type { Config, ProviderConfig } from './schema.ts';

type Providers = Readonly<Record<string, ProviderConfig>>;

/**
 * Skips disabled providers of the list, as routes do; `searchWarnings` reports them. Throws
 * ConfigError for a name that is no search provider, and for a price that cannot be stored exactly.
 */
export function resolveSearch(values: FieldValues, providers: Providers): Config['search'] {
  const { providers: names, ...search } = values.fields.search;
  checkDecimals(values.faultAt, { price_usd: search.price_usd }, ['search'], {
    remedy: 'The price is USD a search: $5 per 1 000 is 0.005.',
  });
  for (const [index, name] of (names ?? []).entries()) {
    const path = ['search', 'providers', index];
    checkName(values, providers, { name, path });
    if (names!.indexOf(name) === index) continue;
    throw values.faultAt(path, {
      problem: `names ${name} a second time`,
      remedy: 'Name each provider once.',
    });
  }
  const enabled = names?.filter((name) => providers[name]?.enabled) ?? enabledByKind(providers);
  // A price of `null` disables a tool, as for models.
  return {
    ...search,
    providers: enabled.filter((name) => providers[name]!.tool_prices.web_search !== null),
  };
}

/** Warns of disabled providers in the file's list. */
export function searchWarnings({ fields }: FieldValues, providers: Providers): string[] {
  const off = (fields.search.providers ?? []).filter((name) => !providers[name]?.enabled);
  return off.map((name) => {
    const variable = knownProviders[name]?.keyVariable ?? knownProviders[name]?.addressVariable;
    const remedy = variable ? `${variable} in the environment does it` : 'under `providers`';
    return `search.providers names ${name}, which is switched off: it is not asked. Remove it from the list, or switch it on: ${remedy}.`;
  });
}

/** Enabled search providers by kind, then in the file's order. */
function enabledByKind(providers: Providers): string[] {
  const names = Object.keys(providers).filter((name) => providers[name]!.enabled);
  return searchKindNames.flatMap((kind) => names.filter((name) => providers[name]!.kind === kind));
}

function checkName(
  { faultAt }: FieldValues,
  providers: Providers,
  { name, path }: { readonly name: string; readonly path: FieldPath },
): void {
  const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
  const kind = provider?.kind ?? knownProviderOf(name)?.kind;
  if (!kind || !isSearchKind(kind)) {
    throw faultAt(path, {
      problem: `must be the name of a provider that searches the web; got ${JSON.stringify(name)}`,
      remedy: `Add it under \`providers\` with one of the kinds ${searchKindNames.join(', ')}, or use one of these names.`,
    });
  }
}
