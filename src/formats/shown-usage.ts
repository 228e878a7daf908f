// What a client sees of the provider's usage on the straight path. The only amount of money in it
// is `cost`, the client's charge in US dollars, as OpenRouter has it. Hosts that resell report
// their own price there too (`cost_details`, `cost_in_usd_ticks`, `estimated_cost`). That price is
// between them and the operator.
import { readTokenCount } from '../canonical/usage.ts';
import { isObject, type JsonObject } from '../lib/json.ts';

/**
 * Removes the upstream's price from its usage, and writes 0 for an impossible count, as the charge
 * counts it. Returns anything but an object unchanged, and so a usage that needs no change.
 */
export function shownUsage(usage: unknown): unknown {
  if (!isObject(usage)) return usage;
  const shown: [string, unknown][] = [];
  let isChanged = false;
  for (const name in usage) {
    const value = shownCount(name, usage[name]);
    isChanged ||= namesCost(name) || value !== usage[name];
    if (!namesCost(name)) shown.push([name, value]);
  }
  return isChanged ? Object.fromEntries(shown) : usage;
}

/** Replaces the upstream's price by the client's charge, as the last field. */
export function withCost(usage: unknown, costUsd: number): JsonObject {
  const shown = shownUsage(usage);
  return { ...(isObject(shown) ? shown : null), cost: costUsd };
}

/** null is what some hosts write for none. */
function shownCount(name: string, value: unknown): unknown {
  const isImpossible = name.endsWith('_tokens') && value !== null && readTokenCount(value) === null;
  return isImpossible || (typeof value === 'number' && value < 0) ? 0 : shownUsage(value);
}

function namesCost(name: string): boolean {
  return /cost/i.test(name);
}
