// An API key as the gateway keeps it in memory, with its account's standing. The key's own text is never kept, only its digest.
import type { AddressList } from '../lib/addresses.ts';
import type { Micros } from '../lib/money.ts';

/** What may be asked for; null: the configuration's default. */
type RequestLimits = {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrentRequests: number | null;
};

export type ApiKey = {
  readonly id: string;
  readonly accountId: string;
  readonly mode: 'live' | 'test';
  readonly dailyCapMicros: Micros | null;
  readonly monthlyCapMicros: Micros | null;
  /** Catalogue ids; null: all models. */
  readonly models: ReadonlySet<string> | null;
  readonly limits: RequestLimits;
  /** Of all keys of the account in this mode together. */
  readonly accountLimits: RequestLimits;
  /** Its own and its account's: an address must be on each. Empty: it may be used from anywhere. */
  readonly allowedAddresses: readonly AddressList[];
  /** null: it does not expire. */
  readonly expiresAtMs: number | null;
  /** Switched off until it is enabled again. */
  readonly isDisabled: boolean;
  readonly accountFrozen: boolean;
  /** Whether answers may be kept for the account. */
  readonly retainResponses: boolean;
  /** Only what was cached under this one is served to the account. */
  readonly cacheGeneration: number;
  /** The account's prices in millionths of the list prices: 1 000 000 is the list price. */
  readonly priceMultiplierPpm: number;
  /** Of single models by id, instead of the account's; null: it has none. */
  readonly modelMultipliersPpm: ReadonlyMap<string, number> | null;
};

/** What the account pays for a model, in millionths of its list price. */
export function multiplierPpmFor(key: ApiKey, modelId: string): number {
  return key.modelMultipliersPpm?.get(modelId) ?? key.priceMultiplierPpm;
}
