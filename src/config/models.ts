// Checks of `models` that a schema cannot express. Checks that need the built-in catalogue run when
// the two are merged.
import { formatsOfKind, isChatKind, type ProviderKindName } from '../terms/provider-kind.ts';
import { searchModelId } from '../terms/web-search.ts';
import type { FieldPath } from './config-error.ts';
import { checkDecimals } from './decimals.ts';
import type { FaultAt, FieldValues } from './field-values.ts';
import { kindOfProvider, knownProviderOf, knownProviders } from './known-providers.ts';
import { pricesOf, type ModelEntry, type PriceEntry, type RouteEntry } from './model-schema.ts';

/**
 * Throws ConfigError for a route to an unknown provider, and for a price that cannot be stored
 * exactly.
 */
export function checkModels({ fields, faultAt }: FieldValues): void {
  for (const [id, entry] of Object.entries(fields.models)) {
    for (const [index, route] of (entry.routes ?? []).entries()) {
      checkRoute(faultAt, fields.providers, { route, path: ['models', id, 'routes', index] });
    }
    checkDay(faultAt, entry.created, ['models', id, 'created']);
    checkPrices(faultAt, entry, ['models', id, 'prices']);
    checkDecimals(faultAt, entry.tool_prices ?? {}, ['models', id, 'tool_prices'], ofCalls);
  }
}

/**
 * Throws ConfigError for a model or alias named like the web search: allowing or pricing one would
 * also affect the other.
 */
export function checkReservedNames({ fields, faultAt }: FieldValues): void {
  for (const section of ['models', 'image_models', 'aliases'] as const) {
    if (!Object.hasOwn(fields[section], searchModelId)) continue;
    throw faultAt([section, searchModelId], {
      problem:
        'is what `POST /v1/web-search` is called in the lists of models of keys and in price multipliers, so no model can have it',
      remedy: 'Choose another id: a name means one thing.',
    });
  }
}

function checkRoute(
  faultAt: FaultAt,
  providers: FieldValues['fields']['providers'],
  { route, path }: { readonly route: RouteEntry; readonly path: FieldPath },
): void {
  const { provider, api } = route;
  const kind = kindOfRoute(faultAt, providers, { provider, path, usual: chatProviderNames });
  const formats: readonly string[] = kind ? formatsOfKind(kind) : [];
  if (kind && !isChatKind(kind)) {
    throw faultAt([...path, 'provider'], {
      problem: `must be a provider of chat models; ${provider} is of kind \`${kind}\`, which runs none`,
      remedy: 'Use another provider; models that make images stand under `image_models`.',
    });
  }
  if (api === undefined || !kind || formats.includes(api)) return;
  throw faultAt([...path, 'api'], {
    problem: `must be a format that ${provider} (${kind}) speaks: ${formats.join(' or ')}; got ${JSON.stringify(api)}`,
    remedy: "Leave it out: the client's own format is used where the provider speaks it.",
  });
}

/**
 * Returns the kind of a route's provider; undefined when the file must state it and does not. Throws
 * ConfigError for an unknown provider. `usual`: the known ones that the error names.
 */
export function kindOfRoute(
  faultAt: FaultAt,
  providers: FieldValues['fields']['providers'],
  route: { readonly provider: string; readonly path: FieldPath; readonly usual: readonly string[] },
): ProviderKindName | undefined {
  const { provider, path, usual } = route;
  if (Object.hasOwn(providers, provider) || knownProviderOf(provider))
    return kindOfProvider(providers, provider);
  throw faultAt([...path, 'provider'], {
    problem: `must be the name of a provider; got ${JSON.stringify(provider)}`,
    remedy: `Add it under \`providers\`, or use one of ${[...new Set([...Object.keys(providers), ...usual])].join(', ')}.`,
  });
}

const chatProviderNames = Object.keys(knownProviders).filter((name) =>
  isChatKind(knownProviders[name]!.kind),
);

function checkPrices(faultAt: FaultAt, entry: ModelEntry, path: FieldPath): void {
  const versions = pricesOf(entry);
  const begins = new Set<number>();
  for (const [index, version] of versions.entries()) {
    const at = Array.isArray(entry.prices) ? [...path, index] : path;
    checkDay(faultAt, version.effective_from, [...at, 'effective_from']);
    checkBegin(faultAt, version, { at, begins });
    checkDecimals(faultAt, version, at, ofTokens);
    checkTiers(faultAt, version, at);
  }
}

function checkBegin(
  faultAt: FaultAt,
  version: PriceEntry,
  { at, begins }: { readonly at: FieldPath; readonly begins: Set<number> },
): void {
  const begin = version.effective_from === undefined ? 0 : Date.parse(version.effective_from);
  if (begins.has(begin)) {
    throw faultAt(at, {
      problem: 'begins when another price of this model begins',
      remedy: 'Give each price its own `effective_from`; one may go without.',
    });
  }
  begins.add(begin);
}

/** Throws ConfigError for a day that does not exist. */
export function checkDay(faultAt: FaultAt, text: string | undefined, path: FieldPath): void {
  if (text === undefined || isRealDay(text)) return;
  throw faultAt(path, {
    problem: `must be a day of the calendar; got ${JSON.stringify(text)}`,
    remedy: 'Write it as `2026-12-01`; times of day, where they are taken, are UTC.',
  });
}

/** `Date.parse` turns 30 February into 2 March. */
function isRealDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 10));
}

/** A millionth of a dollar per million tokens is one picodollar a token, the finest price. */
const ofTokens = { remedy: 'Prices are USD per million tokens, not per token.' };
/** A microdollar is the finest price of a call. */
export const ofCalls = { remedy: 'The price is USD a call: $10 per 1 000 is 0.01.' };

function checkTiers(faultAt: FaultAt, { tiers = [] }: PriceEntry, at: FieldPath): void {
  for (const [index, tier] of tiers.entries()) {
    const path = [...at, 'tiers', index];
    checkDecimals(faultAt, tier, path, ofTokens);
    if (index === 0 || tier.above_input_tokens > tiers[index - 1]!.above_input_tokens) continue;
    throw faultAt([...path, 'above_input_tokens'], {
      problem: `must be above that of the tier before; got ${tier.above_input_tokens}`,
      remedy: 'Write the tiers by rising `above_input_tokens`.',
    });
  }
}
