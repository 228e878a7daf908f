// A catalogue model as the rest of the gateway sees it.
import type { UpstreamFormatName } from '../../terms/format-name.ts';
import type { ModelType } from '../../terms/model-type.ts';
import type { Retirement } from '../../terms/retirement.ts';
import type { PriceTier } from '../../canonical/service-tier.ts';
import type { SearchToolName } from '../../terms/web-search.ts';
import type { ModelTimeouts } from '../../config/timeouts.ts';
import type { Picos, PicosPerToken } from '../../lib/money.ts';
import type { WeeklyHours } from './weekly-hours.ts';

export type Model = {
  readonly id: string;
  readonly type: ModelType;
  readonly displayName: string;
  readonly ownedBy: string;
  /** Unix seconds. */
  readonly createdAtSeconds: number;
  /** Input and output combined. */
  readonly contextTokens: number;
  readonly maxInputTokens: number;
  readonly maxOutputTokens: number;
  readonly supports: {
    readonly thinking: boolean;
    readonly streaming: boolean;
    readonly vision: boolean;
    /** It hears sound. */
    readonly audio: boolean;
    readonly tools: boolean;
  };
  /** Ordered by rank; routes of the same rank in configured order. */
  readonly routes: readonly Route[];
  /** The sizes of its vectors; null: unknown, or it makes none. */
  readonly dimensions: Dimensions | null;
  /** Overrides of the providers' timeouts. */
  readonly timeouts: ModelTimeouts;
  /** Newest first. Empty when the price is unknown; the model never runs then. */
  readonly prices: readonly PriceVersion[];
  /**
   * USD per call of a provider-run tool, set by the operator; null disables the tool; absent means
   * the provider's price.
   */
  readonly toolPrices: Readonly<Partial<Record<SearchToolName, number | null>>>;
  /** null: no end is announced. */
  readonly retirement: Retirement | null;
  /** Unknown request fields that are passed to all routes. */
  readonly passFields: ReadonlySet<string>;
  /** Prompts are marked for the provider's cache when their client cannot mark them. */
  readonly marksCache: boolean;
};

/** In numbers. `min` and `max` equal `default` for a model with one size. */
export type Dimensions = { readonly default: number; readonly min: number; readonly max: number };

export type Route = {
  /** The provider's name in the configuration. */
  readonly provider: string;
  /** The provider's id for the model. */
  readonly upstreamModel: string;
  /** null: the client's format if the provider speaks it, else the provider's first format. */
  readonly api: UpstreamFormatName | null;
  /** Lower ranks are tried first; routes of the same rank share the load by weight. */
  readonly rank: number;
  readonly weight: number;
  /** null means the model's. */
  readonly contextTokens: number | null;
  readonly lacks: ReadonlySet<Need>;
  /** What the provider bills there, in millionths of the price. */
  readonly costPpm: number;
  /** The provider's id for the model in batches; null: it has no other. */
  readonly batchModel: string | null;
};

/** A capability that a request may need from its route. */
export type Need = 'streaming' | 'vision' | 'tools';

/**
 * A price from a point in time on. `isListPrice`: set by the operator, so no markup is added;
 * otherwise the provider's price.
 */
export type PriceVersion = PriceSet & {
  /** Stored with each charge: `<effective_from>`, or `0` without one. */
  readonly version: string;
  readonly effectiveFromMs: number;
  readonly isListPrice: boolean;
  /** Other prices, of a service tier or at some hours, each for the whole request. */
  readonly variants: readonly PriceVariant[];
  /**
   * The price of the unit that the model sells in place of tokens: a search unit, a character or a
   * second. Left out: it sells tokens.
   */
  readonly unit?: Picos;
};

export type PriceSet = {
  readonly base: TokenPrices;
  /**
   * Ordered by threshold. The last tier whose threshold the input exceeds prices the whole request.
   */
  readonly tiers: readonly { readonly aboveInputTokens: number; readonly prices: TokenPrices }[];
};

/** Either of a tier, at all hours, or of the standard tier at some hours. */
export type PriceVariant = PriceSet & {
  readonly tier: PriceTier | null;
  readonly hours: WeeklyHours | null;
};

export type TokenPrices = {
  readonly input: PicosPerToken;
  readonly output: PicosPerToken;
  readonly cacheRead: PicosPerToken;
  readonly cacheWrite: PicosPerToken;
  readonly cacheWrite1h: PicosPerToken;
  /** A token of sound. Left out: as other input. */
  readonly audio?: PicosPerToken;
};
