// What a model of the catalogue is, once read: the form everything else sees.
import type { UpstreamFormatName } from '../canonical/format-name.ts';
import type { SearchToolName } from '../canonical/web-search.ts';
import type { ModelTimeouts } from '../config/timeouts.ts';
import type { PicosPerToken } from '../lib/money.ts';

export type Model = {
  readonly id: string;
  readonly displayName: string;
  readonly ownedBy: string;
  /** Unix seconds. */
  readonly createdAtSeconds: number;
  /** Input and output together. */
  readonly contextTokens: number;
  readonly maxInputTokens: number;
  readonly maxOutputTokens: number;
  readonly supports: {
    readonly thinking: boolean;
    readonly streaming: boolean;
    readonly vision: boolean;
    readonly tools: boolean;
  };
  /** By rising rank, as written within one. */
  readonly routes: readonly Route[];
  /** What it says over its providers' own. */
  readonly timeouts: ModelTimeouts;
  /** Newest first; empty: the price is unknown and the model never runs. */
  readonly prices: readonly PriceVersion[];
  /** USD a call of a tool that the provider runs, as the operator states it; null: not sold; left out: the provider's price. */
  readonly toolPrices: Readonly<Partial<Record<SearchToolName, number | null>>>;
  /** Fields of a request that go to all its routes, unknown as they are. */
  readonly passFields: ReadonlySet<string>;
};

export type Route = {
  /** The name of a provider in the configuration. */
  readonly provider: string;
  /** The provider's id of the model. */
  readonly upstreamModel: string;
  /** null: the client's own format where the provider speaks it, else the provider's first. */
  readonly api: UpstreamFormatName | null;
  /** Lower ones are tried first; routes of one rank share the load by weight. */
  readonly rank: number;
  readonly weight: number;
  /** null: the model's. */
  readonly contextTokens: number | null;
  readonly lacks: ReadonlySet<Need>;
};

/** What a request may need of a route. */
export type Need = 'streaming' | 'vision' | 'tools';

/** A price from one moment on, as the provider charges it or the operator states it (`isListPrice`: then no markup is added). */
export type PriceVersion = {
  /** Kept on each charge: `<effective_from>`, or `0` for one without. */
  readonly version: string;
  readonly effectiveFromMs: number;
  readonly isListPrice: boolean;
  readonly base: TokenPrices;
  /** By rising threshold; the last one whose threshold the whole input exceeds prices the whole request. */
  readonly tiers: readonly { readonly aboveInputTokens: number; readonly prices: TokenPrices }[];
};

export type TokenPrices = {
  readonly input: PicosPerToken;
  readonly output: PicosPerToken;
  readonly cacheRead: PicosPerToken;
  readonly cacheWrite: PicosPerToken;
  readonly cacheWrite1h: PicosPerToken;
};
