// The only amount of money in an answer: `cost` in its usage, in US dollars, as OpenRouter has it.
// Hosts that resell report their own price there too (`cost_details`, `cost_in_usd_ticks`,
// `estimated_cost`). That price is between them and the operator.
import { isObject, type JsonObject } from '../lib/json.ts';

/** Removes the upstream's price from its usage. Returns anything but an object unchanged. */
export function withoutCost(usage: unknown): unknown {
  if (!isObject(usage)) return usage;
  const names = Object.keys(usage);
  if (!names.some(namesCost)) return usage;
  return Object.fromEntries(
    names.filter((name) => !namesCost(name)).map((name) => [name, usage[name]]),
  );
}

/** Replaces the upstream's price by the client's charge, as the last field. */
export function withCost(usage: unknown, costUsd: number): JsonObject {
  const shown = withoutCost(usage);
  return { ...(isObject(shown) ? shown : null), cost: costUsd };
}

function namesCost(name: string): boolean {
  return /cost/i.test(name);
}
