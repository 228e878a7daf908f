// Service tiers: how fast a provider answers, at a price of its own. Each vendor has words of its
// own for them; these are the ones that prices use.

/** The tiers that may be sold beside the standard one. */
export const serviceTiers = ['flex', 'priority', 'ultrafast'] as const;
export type ServiceTier = (typeof serviceTiers)[number];

/** The tiers that have prices. No request asks for `batch`: it is what a provider's batch API costs. */
export const priceTiers = [...serviceTiers, 'batch'] as const;
export type PriceTier = (typeof priceTiers)[number];

/** The values of `service_tier` that a client may send in Chat and Responses. */
export const askedTiers: readonly unknown[] = [
  'auto',
  'default',
  'standard',
  'fast',
  ...serviceTiers,
];

/** Reads the tier that a request asks for. Left out: the standard one, or none that is sold. */
export function readAskedTier(value: unknown): { readonly tier?: ServiceTier } {
  const tier = serviceTiers.find((known) => known === readTier(value)?.tier);
  return tier ? { tier } : {};
}

/**
 * Reads the tier that a provider names: one of ours, `standard`, or its own word for another. Left
 * out: none; `auto` repeats a request.
 */
export function readTier(value: unknown): { readonly tier?: string } {
  if (typeof value !== 'string' || value === '' || value === 'auto') return {};
  const word = value.toLowerCase().slice(0, 40);
  if (word === 'fast') return { tier: 'priority' };
  return { tier: ['default', 'on_demand'].includes(word) ? 'standard' : word };
}
