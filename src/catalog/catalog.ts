// The models this gateway knows, and what each name that a client sends means. Made once at the start and never changed.
import type { Model, Route } from './model.ts';

export type Catalog = {
  /** The model that a client's name means: its id, an alias, `vendor/id`, or the id with a date or `-latest`; null when none, or not one only. */
  readonly resolve: (name: string) => Model | null;
  /** The routes whose provider is switched on, in order. */
  readonly liveRoutes: (model: Model) => readonly Route[];
  /** Every model, whether it can run or not: the built-in ones first, in their order. */
  readonly list: () => readonly Model[];
  readonly aliases: ReadonlyMap<string, Model>;
  /** What the operator should know of the models: free ones, and ones that never run. */
  readonly warnings: readonly string[];
};

export type CatalogParts = {
  readonly models: readonly Model[];
  readonly aliases: ReadonlyMap<string, Model>;
  /** The names of the providers that are switched on. */
  readonly liveProviders: ReadonlySet<string>;
  readonly warnings: readonly string[];
};

export function createCatalog({ models, aliases, liveProviders, warnings }: CatalogParts): Catalog {
  const byId = new Map(models.map((model) => [model.id, model]));
  const liveRoutes = new Map(models.map((model) => [model, model.routes.filter(({ provider }) => liveProviders.has(provider))]));
  return {
    resolve: (name) => byId.get(name) ?? aliases.get(name) ?? resolveVariant(byId, name),
    liveRoutes: (model) => liveRoutes.get(model) ?? [],
    list: () => models,
    aliases,
    warnings,
  };
}

/**
 * A name that is no id itself: `vendor/id` where the vendor made the model or serves it, an id with a date
 * (`claude-haiku-4-5-20251001`, `gpt-4o-2024-08-06`) or with `-latest`, or both at once. Never a mere prefix, and null when two
 * models could be meant, since they may have different prices.
 */
export function resolveVariant(byId: ReadonlyMap<string, Model>, name: string): Model | null {
  const plain = byId.get(withoutDate(name)) ?? null;
  const ofVendor = resolveOfVendor(byId, name);
  if (plain && ofVendor && plain !== ofVendor) return null;
  return plain ?? ofVendor;
}

/** Ids may contain a slash themselves: only what stands before the first one can be the vendor. */
function resolveOfVendor(byId: ReadonlyMap<string, Model>, name: string): Model | null {
  const slash = name.indexOf('/');
  if (slash < 1) return null;
  const vendor = name.slice(0, slash).toLowerCase();
  const rest = name.slice(slash + 1);
  const model = byId.get(rest) ?? byId.get(withoutDate(rest));
  return model && vendorsOf(model).includes(vendor) ? model : null;
}

function vendorsOf(model: Model): string[] {
  return [model.ownedBy, ...model.routes.map(({ provider }) => provider)].map((vendor) => vendor.toLowerCase());
}

function withoutDate(name: string): string {
  if (name.endsWith('-latest')) return name.slice(0, -'-latest'.length);
  const match = /^(.+)-(\d{4})(-?)(\d{2})\3(\d{2})$/u.exec(name);
  if (!match) return name;
  const [, id, year, , month, day] = match;
  return isCalendarDay(`${year}-${month}-${day}`) ? id! : name;
}

function isCalendarDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
