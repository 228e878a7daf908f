// Reserves the most that a model's request can cost, against the balance and both caps of its key,
// before anything goes upstream.
import type { ClientRequest } from '../../formats/format.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import type { Gateway } from '../gateway.ts';
import { refusal } from './hold-refusal.ts';
import { OpenHold, reserve, type Payer } from './open-hold.ts';
import { mayOutlast } from './provoked.ts';
import {
  affordableTokens,
  likelyCostOf,
  worstCaseOf,
  type Granted,
  type HoldRequest,
} from './worst-case.ts';

/** A request without a maximum gets at least this much output, or an error. */
const reducedOutputTokensMin = 1_024;
/** Tries to place a hold: other requests may reserve between a refusal and the next try. */
const triesMax = 4;

type Placed = { readonly hold: OpenHold; readonly granted: Granted };

/** Throws ApiError 402, 403 or 429 when the worst case does not fit. */
export async function placeHold(
  gateway: Gateway,
  payer: Payer,
  request: HoldRequest,
): Promise<Placed> {
  let wanted = request;
  let maxOutputTokens = wanted.outputTokens;
  for (let tries = 1; ; tries++) {
    const coveredTokens = firstSliceOf(gateway, wanted, maxOutputTokens);
    const amountMicros = worstCaseOf(wanted, coveredTokens);
    const hold = await reserve(gateway, payer, {
      amountMicros,
      likelyCost: likelyCostOf(wanted, payer.key.mode),
      mayOutlast: mayOutlast(wanted, maxOutputTokens),
    });
    if (hold instanceof OpenHold) {
      const { search } = wanted;
      const isReduced = maxOutputTokens < wanted.outputTokens;
      return {
        hold,
        granted: { amountMicros, maxOutputTokens, coveredTokens, wanted, isReduced, search },
      };
    }
    if (wanted.search?.mayBeFewer) {
      wanted = { ...wanted, search: { ...wanted.search, searchesMax: 1, mayBeFewer: false } };
      continue;
    }
    const affordable = Math.min(affordableTokens(wanted, hold.affordableMicros), coveredTokens);
    const mayReduce =
      wanted.request.maxOutputTokens === null &&
      affordable >= reducedFloor(wanted.request) &&
      tries < triesMax;
    if (!mayReduce) {
      const fits = Math.min(affordableTokens(withLimit(wanted), hold.affordableMicros), affordable);
      throw refusal(wanted, hold, {
        amountMicros,
        affordable: fits,
        nowMs: gateway.clock.nowMs(),
      });
    }
    maxOutputTokens = Math.min(affordable, coveredTokens - 1);
  }
}

/** The request with an output limit, which counts as input: the error proposes to send one. */
function withLimit(wanted: HoldRequest): HoldRequest {
  if (wanted.request.maxOutputTokens !== null) return wanted;
  const { upper } = estimateInputTokens({ [wanted.limitField]: wanted.outputTokens });
  return { ...wanted, inputTokensUpper: wanted.inputTokensUpper + upper };
}

/**
 * Returns the output tokens to hold at first: for a stream a slice, but never less than the minimum
 * worth starting for; else all. A stream whose input only its end shows must not end early, because
 * its hold cannot grow.
 */
function firstSliceOf(
  { config }: Gateway,
  { request, isInputUnknown }: HoldRequest,
  maxOutputTokens: number,
): number {
  if (!request.stream || isInputUnknown) return maxOutputTokens;
  return Math.min(
    maxOutputTokens,
    Math.max(config.limits.hold_slice_tokens, reducedFloor(request)),
  );
}

function reducedFloor(request: ClientRequest): number {
  return reducedOutputTokensMin + request.thinkingBudgetTokens;
}
