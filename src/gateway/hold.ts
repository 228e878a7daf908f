// Places the hold of a request: the most it can cost, against the balance and both caps of its key, before anything goes upstream.
import type { ClientRequest } from '../formats/format.ts';
import { upstreamFormats } from '../formats/registry.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { Model } from '../catalog/model.ts';
import { noUsage, type Usage } from '../canonical/usage.ts';
import { affordableOutputTokens, priceUsage, worstCaseMicros, type AppliedPrice } from '../catalog/price.ts';
import { ledgerIdOf, type LikelyCost, type Outcome, type RefusedOutcome, type Reserve } from '../ledger/commands.ts';
import { zeroMicros, type Micros } from '../lib/money.ts';
import type { Gateway } from './gateway.ts';
import { refusal } from './hold-refusal.ts';
import type { ChosenRoute } from './route.ts';
import type { Asked } from './running.ts';
import { inputTokensWithSearches, type AskedSearch } from './search.ts';
import { unseenTokensPerSecond } from './unseen-output.ts';

export type HoldRequest = {
  readonly requestId: string;
  readonly key: ApiKey;
  readonly model: Model;
  readonly price: AppliedPrice;
  readonly search: AskedSearch | null;
  readonly request: ClientRequest;
  readonly inputTokensUpper: number;
  readonly inputTokensLikely: number;
  /** The largest that `outputLimitOf` gives for a route of the model; likewise the price is the dearest. */
  readonly outputTokens: number;
  /** What the client's format calls its output limit. */
  readonly limitField: string;
};

export type Hold = {
  readonly id: string;
  readonly amountMicros: Micros;
  /** The output limit to send upstream. */
  readonly maxOutputTokens: number;
  /** How much of it the amount covers: all, or of a stream the first slice. */
  readonly coveredTokens: number;
  /** What was held for: the hold of a stream grows by it. */
  readonly request: HoldRequest;
  /** Below what the model would have given, because no more was affordable. */
  readonly isReduced: boolean;
  /** What the amount covers of the search that was asked for, and what is to be sent: a single one where more did not fit. */
  readonly search: AskedSearch | null;
  readonly availableMicros: Micros;
};

/** A caller that gave no maximum gets at least this much room to answer in, or an error. */
const reducedOutputTokensMin = 1_024;
/** What is affordable can shrink between the refusal and the next try, when others reserve at the same moment. */
const triesMax = 4;

/** The caller's own maximum, bounded by the model and by what the upstream takes at all; without one, the configuration's. */
export function outputLimitOf(
  { config }: Gateway,
  { model, request, route }: Pick<Asked, 'model' | 'request'> & { readonly route: ChosenRoute },
): number {
  const least = route.transport === 'http' ? (upstreamFormats[route.format].outputTokensMin ?? 1) : 1;
  const wanted = request.maxOutputTokens ?? config.limits.default_max_output_tokens;
  return Math.max(Math.min(wanted, model.maxOutputTokens), least);
}

/** Throws ApiError 402, 403 or 429 when the most that the request can cost does not fit. */
export async function placeHold(gateway: Gateway, request: HoldRequest): Promise<Hold> {
  let wanted = request;
  let maxOutputTokens = wanted.outputTokens;
  for (let tries = 1; ; tries++) {
    const coveredTokens = firstSliceOf(gateway, wanted, maxOutputTokens);
    const amountMicros = worstCaseOf(wanted, coveredTokens);
    const outcome = await reserve(gateway, wanted, { amountMicros, likelyCost: likelyCostOf(wanted) });
    if (outcome.type === 'held') {
      const { availableMicros } = outcome;
      return {
        id: wanted.requestId,
        amountMicros,
        maxOutputTokens,
        coveredTokens,
        request: wanted,
        isReduced: maxOutputTokens < wanted.outputTokens,
        search: wanted.search,
        availableMicros,
      };
    }
    if (wanted.search?.mayBeFewer) {
      wanted = { ...wanted, search: { ...wanted.search, searchesMax: 1, mayBeFewer: false } };
      continue;
    }
    const affordable = affordableTokens(wanted, outcome.affordableMicros, coveredTokens);
    const mayReduce = wanted.request.maxOutputTokens === null && affordable >= reducedFloor(wanted.request) && tries < triesMax;
    if (!mayReduce) throw refusal(wanted, outcome, { amountMicros, affordable, nowMs: gateway.clock.nowMs() });
    maxOutputTokens = Math.min(affordable, coveredTokens - 1);
  }
}

/** Whole answers are held for in full; a stream begins with a slice, or with as much as it is worth beginning for. */
function firstSliceOf({ config }: Gateway, { request }: HoldRequest, maxOutputTokens: number): number {
  if (!request.stream) return maxOutputTokens;
  return Math.min(maxOutputTokens, Math.max(config.limits.hold_slice_tokens, reducedFloor(request)));
}

function reducedFloor(request: ClientRequest): number {
  return reducedOutputTokensMin + request.thinkingBudgetTokens;
}

/** The most that the request can cost with this much output. */
export function worstCaseOf(wanted: HoldRequest, outputTokens: number): Micros {
  return worstCaseMicros(wanted.price, { ...inputSizeOf(wanted), outputTokens });
}

function affordableTokens(wanted: HoldRequest, amountMicros: Micros, below: number): number {
  return Math.min(affordableOutputTokens(wanted.price, { ...inputSizeOf(wanted), amountMicros }), below);
}

function inputSizeOf({ inputTokensUpper, model, request, search }: HoldRequest) {
  const { contextTokens } = model;
  return {
    inputTokensUpper: inputTokensWithSearches(search, { promptTokensUpper: inputTokensUpper, contextTokens }),
    choices: request.choices,
    searches: search?.searchesMax ?? 0,
  };
}

/** Of its input at once, and of what most models write in a second. The sandbox costs nothing. */
function likelyCostOf({ key, price, request, inputTokensLikely }: HoldRequest): LikelyCost {
  if (key.mode === 'test') return { atOnceMicros: zeroMicros, perSecondMicros: zeroMicros };
  const costOf = (usage: Partial<Usage>) => priceUsage(price, { ...noUsage, ...usage }).upstreamCostMicros;
  return {
    atOnceMicros: costOf({ inputTokens: inputTokensLikely }),
    perSecondMicros: costOf({ outputTokens: unseenTokensPerSecond * request.choices }),
  };
}

/** Asks the ledger for a hold under the request's id. Throws ApiError `loss_budget_exceeded`. */
export async function reserve(
  gateway: Gateway,
  { requestId, key }: Pick<HoldRequest, 'requestId' | 'key'>,
  amounts: Pick<Reserve, 'amountMicros' | 'likelyCost'>,
): Promise<Extract<Outcome, { type: 'held' }> | RefusedOutcome> {
  await gateway.standings.assertWithinLosses(key);
  const outcome = await gateway.ledger.submit({
    type: 'reserve',
    holdId: requestId,
    ledgerId: ledgerIdOf(key.accountId, key.mode),
    keyId: key.id,
    ...amounts,
    dailyCapMicros: key.dailyCapMicros,
    monthlyCapMicros: key.monthlyCapMicros,
    owner: gateway.owner,
  });
  switch (outcome.type) {
    case 'held':
    case 'account-frozen':
    case 'insufficient-balance':
    case 'key-daily-limit':
    case 'key-monthly-limit':
      return outcome;
    default:
      throw new Error(`the ledger answered a reservation with ${outcome.type}`);
  }
}
