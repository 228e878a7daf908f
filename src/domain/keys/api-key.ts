// An API key in the gateway's memory, with its account's settings. Only the key's digest is kept,
// never its text.
import type { KeyScope } from '../../terms/key-scope.ts';
import type { Mode } from '../../terms/mode.ts';
import type { AccountExport } from '../../events/request-spans.ts';
import type { AddressList } from '../../lib/addresses.ts';
import type { Micros } from '../../lib/money.ts';

/** null means the configured default. */
type RequestLimits = {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrentRequests: number | null;
};

/** A key of a provider that the account brings. */
export type OwnKey = {
  readonly id: string;
  /** The provider's name in the configuration. */
  readonly provider: string;
  /** Of the address that it may be sent to. */
  readonly addressDigest: string;
  readonly apiKey: string;
  /** It is tried before the operator's credentials; else behind them. */
  readonly goesFirst: boolean;
};

export type ApiKey = {
  readonly id: string;
  readonly accountId: string;
  readonly mode: Mode;
  readonly dailyCapMicros: Micros | null;
  readonly monthlyCapMicros: Micros | null;
  /** What all keys of this key's owner may spend together; null: it has no owner with a budget. */
  readonly budget: {
    readonly memberId: string;
    readonly dailyMicros: Micros | null;
    readonly monthlyMicros: Micros | null;
  } | null;
  /** Catalogue model ids; null means all models. */
  readonly models: ReadonlySet<string> | null;
  /** null means all scopes. */
  readonly scopes: ReadonlySet<KeyScope> | null;
  readonly limits: RequestLimits;
  /** Shared by all keys of the account in this mode. */
  readonly accountLimits: RequestLimits;
  /** The key's and the account's lists: an address must be on each. Empty means any address. */
  readonly allowedAddresses: readonly AddressList[];
  /** null: the key never expires. */
  readonly expiresAtMs: number | null;
  /** For how many days the bodies of its requests are kept; null: they are not kept. */
  readonly bodyDays: number | null;
  /** False: the gateway does not mark its prompts for providers' caches. */
  readonly marksCache: boolean;
  /** A disabled key can be enabled again. */
  readonly isDisabled: boolean;
  readonly accountFrozen: boolean;
  /** True when answers may be stored for the account. */
  readonly retainResponses: boolean;
  /** Only answers cached under this generation are served. */
  readonly cacheGeneration: number;
  /** The account's prices in millionths of the list prices: 1 000 000 means the list price. */
  readonly priceMultiplierPpm: number;
  /** Multipliers for single models by id, which replace the account's; null when there are none. */
  readonly modelMultipliersPpm: ReadonlyMap<string, number> | null;
  /** The account's export of its own traces; null: it has none. */
  readonly traceExport: AccountExport | null;
  /** Of the account, for live keys. */
  readonly ownKeys: readonly OwnKey[];
};

/** Returns what the account pays for a model, in millionths of its list price. */
export function multiplierPpmFor(key: ApiKey, modelId: string): number {
  return key.modelMultipliersPpm?.get(modelId) ?? key.priceMultiplierPpm;
}
