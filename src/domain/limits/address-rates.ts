// Rates by client address, such as wrong keys a minute. They are in memory only, because an attacker
// with many addresses must not fill the database. All threads of a process share them.
import type { Budget } from './bucket.ts';
import { MemoryRates, type TakeResult } from './rates.ts';

const addressPurposes = [
  'wrong keys',
  'lookups beyond',
  'sign-in attempts',
  'device logins',
  'device polls',
] as const;
type AddressPurpose = (typeof addressPurposes)[number];

export type AddressRates = {
  /** Takes from the address's budget for one purpose. */
  readonly take: (
    purpose: AddressPurpose,
    budget: Budget,
    amount: number,
  ) => TakeResult | Promise<TakeResult>;
};

/**
 * Beyond this the oldest are dropped: an attacker with that many addresses cannot be throttled by
 * address, and must not fill the memory.
 */
const addressesMax = 20_000;

export function addressRatesInMemory(nowMs: () => number): AddressRates {
  const rates = new Map(
    addressPurposes.map((purpose) => [purpose, new MemoryRates(nowMs, addressesMax)]),
  );
  return { take: (purpose, budget, amount) => rates.get(purpose)!.take(budget, amount) };
}
