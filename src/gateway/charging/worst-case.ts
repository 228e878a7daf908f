// Computes the most that a model's request can cost.
import {
  affordableOutputTokens,
  upstreamCostOf,
  worstCaseMicros,
} from '../../domain/catalog/price.ts';
import type { LikelyCost } from '../../domain/ledger/commands.ts';
import { noUsage, type Usage } from '../../canonical/usage.ts';
import { zeroMicros, type Micros } from '../../lib/money.ts';
import { inputTokensWithTools, mostForImages, roundsWith } from '../routing/asked-tools.ts';
import type { HighestTerms } from '../routing/candidates.ts';
import type { Allowance } from '../routing/plan.ts';
import type { ModelRequest } from '../routing/write-request.ts';

/** A request with the highest price and the limits of its routes: the hold covers all of it. */
export type HoldRequest = ModelRequest &
  HighestTerms & {
    readonly inputTokensUpper: number;
    /** True when the input can have any length, which only the provider's final count shows. */
    readonly isInputUnknown: boolean;
    /** The first route's speed, for each choice. */
    readonly tokensPerSecond: number;
    /** How long the first route's answer may take. */
    readonly totalMs: number;
  };

/** The hold of a request, and what the request may use under it. */
export type Granted = Allowance & {
  /** The output tokens that the first hold covers: all, or a stream's first slice. */
  readonly coveredTokens: number;
  /** The worst case: a stream's hold grows by it. */
  readonly wanted: HoldRequest;
};

/** Returns the most that the request can cost with this much output. */
export function worstCaseOf(wanted: HoldRequest, outputTokens: number): Micros {
  return worstCaseMicros(wanted.price, { ...inputSizeOf(wanted, outputTokens), outputTokens });
}

/** Returns the output tokens that this amount pays for in addition to the input. */
export function affordableTokens(wanted: HoldRequest, amountMicros: Micros): number {
  return affordableOutputTokens(wanted.price, {
    ...inputSizeOf(wanted, wanted.outputTokens),
    amountMicros,
  });
}

/**
 * Returns the likely cost: of the input once, and of the output for each second. The sandbox costs
 * nothing.
 */
export function likelyCostOf({
  key,
  price,
  request,
  estimate,
  tokensPerSecond,
}: HoldRequest): LikelyCost {
  if (key.mode === 'test') return { atOnceMicros: zeroMicros, perSecondMicros: zeroMicros };
  const nowMs = price.allowed?.fromMs ?? 0;
  const costOf = (usage: Partial<Usage>) =>
    upstreamCostOf(price, { usage: { ...noUsage, ...usage }, nowMs });
  return {
    atOnceMicros: costOf({ inputTokens: estimate.likely, audioTokens: estimate.audio.likely }),
    perSecondMicros: costOf({ outputTokens: Math.round(tokensPerSecond * request.choices) }),
  };
}

/** The speed of a slow model, in tokens a second. */
const slowTokensPerSecond = 25;

/**
 * Returns true when writing so much may take longer than a whole answer may take. A stream is
 * charged for what came.
 */
export function mayOutlast({ request, totalMs }: HoldRequest, maxOutputTokens: number): boolean {
  return !request.stream && maxOutputTokens >= (totalMs / 1_000) * slowTokensPerSecond;
}

/** After a tool of ours, the model reads its output so far again. */
function inputSizeOf(
  { inputTokensUpper, estimate, model, request, tools, cachesLong }: HoldRequest,
  outputTokens: number,
) {
  const { choices, prompts = 1 } = request;
  return {
    inputTokensUpper: inputTokensWithTools(tools, {
      promptTokens: inputTokensUpper + (tools?.own ? outputTokens : 0),
      contextTokens: model.contextTokens * prompts,
    }),
    audioTokensUpper: Math.min(estimate.audio.upper, model.contextTokens) * roundsWith(tools),
    choices,
    prompts,
    searches: tools?.searchesMax ?? 0,
    imagesPicos: mostForImages(tools),
    cachesLong,
  };
}
