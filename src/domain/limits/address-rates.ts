// Rates by client address, such as wrong keys a minute. They are in memory only, because an attacker
// with many addresses must not fill the database. All threads of a process share them.
import { clientGroupOf } from '../../lib/addresses.ts';
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
  /** Takes from the address's budget for one purpose. `amount`: 1 if it is left out. */
  readonly take: (
    purpose: AddressPurpose,
    address: string,
    perMinute: number,
    amount?: number,
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
  return {
    take: (purpose, address, perMinute, amount = 1) =>
      rates.get(purpose)!.take({ id: clientGroupOf(address), perMinute }, amount),
  };
}
