// What moves here from another gateway, the same whichever it was. Its readers make a plan, which
// is shown, and carried out by management/changes/imports.ts.
import type { Role } from '../../db/schema.ts';
import type { Micros } from '../../lib/money.ts';
import type { ModelType } from '../../terms/model-type.ts';

export type Line = {
  readonly kind: 'account' | 'key' | 'provider' | 'model' | 'alias' | 'user' | 'other';
  readonly name: string;
  /** `disabled`: it comes, and an operator must enable it. */
  readonly result: 'comes' | 'disabled' | 'stays';
  /** What of it is lost, or why it stays. */
  readonly notes: readonly string[];
};

export type PlannedAccount = Line & {
  /** The id at the source, such as `user 7`. */
  readonly sourceId: string;
  /** A debit when it is negative. */
  readonly balanceMicros: Micros;
  readonly priceMultiplierPpm: number;
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
};

type KeyHash = { readonly sha256: string; readonly expiresAtMs: number };

export type PlannedKey = Line & {
  readonly sourceId: string;
  /** The `sourceId` of its account. */
  readonly account: string;
  /** The key, or LiteLLM's hash of it in hexadecimal digits. */
  readonly text: { readonly plain: string } | { readonly sha256: string };
  readonly hint: string;
  /** Texts before a rotation, which still work. */
  readonly earlier?: readonly KeyHash[];
  readonly dailyCapMicros?: Micros | null;
  readonly monthlyCapMicros?: Micros | null;
  /** What may be spent until the key ends; it has no counterpart. null: no such cap. */
  readonly lifetimeCapMicros?: Micros | null;
  /** True when a limit of spending is among what is lost. */
  readonly losesCap?: boolean;
  readonly models: readonly string[] | null;
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
  readonly concurrentRequests?: number | null;
  readonly allowedAddresses?: readonly string[] | null;
  readonly expiresAtMs?: number | null;
};

export type PlannedUser = Line & {
  readonly account: string;
  readonly email: string;
  readonly role: Role;
};

/** The sections of a `tollgate.yaml`. */
export type Fragment = {
  readonly providers: Readonly<Record<string, PlannedProvider | PlannedCredential>>;
  readonly models: Readonly<Record<string, PlannedModel>>;
  readonly aliases: Readonly<Record<string, string>>;
};

export type PlannedProvider = Readonly<Record<'kind' | 'base_url' | 'api_key', string>>;
type PlannedCredential = Readonly<Record<'credential_of' | 'api_key', string>>;
export type PlannedPrices = Readonly<Record<string, number>>;
export type PlannedModel = {
  readonly type?: ModelType;
  readonly routes: readonly {
    readonly provider: string;
    readonly model: string;
    readonly rank: number;
    readonly weight: number;
  }[];
  readonly prices?: PlannedPrices;
};

export type ImportPlan = {
  readonly accounts: readonly PlannedAccount[];
  readonly keys: readonly PlannedKey[];
  readonly users: readonly PlannedUser[];
  readonly fragment: Fragment;
  /** Lines about the fragment, and about what has no counterpart. */
  readonly others: readonly Line[];
};
