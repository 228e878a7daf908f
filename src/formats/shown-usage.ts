// What a client sees of the provider's usage on the straight path. The only amount of money in it
// is `cost`, the client's charge in US dollars, as OpenRouter has it. Hosts that resell report
// their own price there too (`cost_details`, `cost_in_usd_ticks`, `estimated_cost`). That price is
// between them and the operator.
import { isObject, type JsonObject } from '../lib/json.ts';

/**
 * Removes the upstream's price from its usage, and writes 0 for a count below 0, as the charge
 * counts it. Returns anything but an object unchanged, and so a usage that needs no change.
 */
export function shownUsage(usage: unknown): unknown {
  if (!isObject(usage)) return usage;
  const names = Object.keys(usage);
  const isShown = (name: string) => !namesCost(name) && shownCount(usage[name]) === usage[name];
  if (names.every(isShown)) return usage;
  const counts = names.filter((name) => !namesCost(name));
  return Object.fromEntries(counts.map((name) => [name, shownCount(usage[name])]));
}

/** Replaces the upstream's price by the client's charge, as the last field. */
export function withCost(usage: unknown, costUsd: number): JsonObject {
  const shown = shownUsage(usage);
  return { ...(isObject(shown) ? shown : null), cost: costUsd };
}

function shownCount(value: unknown): unknown {
  return typeof value === 'number' && value < 0 ? 0 : shownUsage(value);
}

function namesCost(name: string): boolean {
  return /cost/i.test(name);
}
