// The offer of a model's answer: its price with the output that the account can pay for.
import type { ClientRequest } from '../../formats/format.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { holdRefused } from './hold-refusal.ts';
import type { Running, Offer, Outcome } from './offer.ts';
import type { RoutePlan } from '../routing/plan.ts';
import { withOneEach } from '../routing/asked-tools.ts';
import {
  affordableTokens,
  likelyCostOf,
  mayOutlast,
  worstCaseOf,
  type Granted,
  type HoldRequest,
} from './worst-case.ts';

/** A request without a maximum gets at least this much output, or an error. */
const reducedOutputTokensMin = 1_024;
/** Offers to try: other requests may reserve between a refusal and the next try. */
const offersMax = 4;

type Selling = {
  readonly plan: RoutePlan;
  readonly call: (held: Running, granted: Granted) => Promise<Outcome>;
};

type Terms = {
  readonly wanted: HoldRequest;
  readonly maxOutputTokens: number;
  /** How many offers were refused before. */
  readonly refused: number;
};

export function offerModel(wanted: HoldRequest, selling: Selling): Offer {
  return offerOn(selling, { wanted, maxOutputTokens: wanted.outputTokens, refused: 0 });
}

function offerOn(selling: Selling, { wanted, maxOutputTokens, refused }: Terms): Offer {
  const coveredTokens = firstSliceOf(wanted, maxOutputTokens);
  const amountMicros = worstCaseOf(wanted, coveredTokens);
  const { gateway, format, tools, request, passed } = wanted;
  const isReduced = maxOutputTokens < wanted.outputTokens;
  const granted = { maxOutputTokens, coveredTokens, wanted, isReduced, tools };
  const next = (terms: Partial<Terms>) =>
    offerOn(selling, { wanted, maxOutputTokens, refused: refused + 1, ...terms });
  return {
    amountMicros,
    likelyCost: likelyCostOf(wanted),
    mayOutlast: mayOutlast(wanted, maxOutputTokens),
    hasRun: Boolean(passed?.answer),
    smaller(affordableMicros) {
      if (tools?.mayBeFewer) return next({ wanted: { ...wanted, tools: withOneEach(tools) } });
      const affordable = Math.min(affordableTokens(wanted, affordableMicros), coveredTokens);
      const mayReduce =
        request.maxOutputTokens === null &&
        affordable >= reducedFloor(request) &&
        refused + 1 < offersMax;
      return mayReduce ? next({ maxOutputTokens: Math.min(affordable, coveredTokens - 1) }) : null;
    },
    refuse(outcome) {
      const affordable = Math.min(
        affordableTokens(withLimit(wanted), outcome.affordableMicros),
        coveredTokens,
      );
      return holdRefused(outcome, {
        amountMicros,
        nowMs: gateway.clock.nowMs(),
        isMessages: format.name === 'messages',
        costPart: toolsPart(wanted),
        fitsPart: fitsPart(wanted, affordable),
        details: {
          affordable_output_tokens: affordable,
          ...(tools && tools.searchesMax > 0 && { web_searches: tools.searchesMax }),
          ...(tools?.own?.images && { images: tools.own.images.imagesMax }),
        },
      });
    },
    // Only the provider's final count shows what these cost: whole answers, and input of unknown
    // length (a document by address, what the provider's code writes, or what `pass_fields` opens). If
    // they were stopped, a client that leaves shortly before the end would pay a small part. An image
    // that is stopped is lost.
    runsToEnd: wanted.isInputUnknown || !request.stream || Boolean(tools?.own?.images),
    firstCall: () => selling.plan.begin(granted),
    call: (held) => selling.call(held, granted),
  };
}

/** The request with an output limit, which counts as input: the error proposes to send one. */
function withLimit(wanted: HoldRequest): HoldRequest {
  if (wanted.request.maxOutputTokens !== null) return wanted;
  const { upper } = estimateInputTokens({ [limitFieldOf(wanted)]: wanted.outputTokens });
  return { ...wanted, inputTokensUpper: wanted.inputTokensUpper + upper };
}

/**
 * Returns the output tokens to hold at first: for a stream a slice, but never less than the minimum
 * worth starting for; else all. A stream whose input only its end shows must not end early, because
 * its hold cannot grow.
 */
function firstSliceOf(
  { gateway, request, isInputUnknown }: HoldRequest,
  maxOutputTokens: number,
): number {
  if (!request.stream || isInputUnknown) return maxOutputTokens;
  const { hold_slice_tokens: sliceTokens } = gateway.config.limits;
  return Math.min(maxOutputTokens, Math.max(sliceTokens, reducedFloor(request)));
}

function reducedFloor(request: ClientRequest): number {
  return reducedOutputTokensMin + request.thinkingBudgetTokens;
}

function limitFieldOf({ format, request }: HoldRequest): string {
  return format.outputLimitField(request.body);
}

function fitsPart(wanted: HoldRequest, affordableTokensEach: number): string {
  const { request, inputTokensUpper, model } = wanted;
  const { choices } = request;
  if (affordableTokensEach > 0) {
    const [each, fewer] =
      choices > 1 ? [` in each of ${choices} answers`, ', or a lower `n`'] : ['', ''];
    return ` Up to ${affordableTokensEach} output ${affordableTokensEach === 1 ? 'token' : 'tokens'} would fit${each}: send \`${limitFieldOf(wanted)}\` of at most that${fewer}.`;
  }
  if (inputTokensUpper < model.contextTokens) return ' Not even its input would fit.';
  return (
    ' Not even its input would fit. The length of its input is unknown, so the hold covers the whole context of the model: this applies to audio, video and documents by URL. ' +
    'Send documents as base64, so that their pages can be counted.'
  );
}

/** Names the tools: with the text that searches bring, they are often most of the cost. */
function toolsPart({ tools }: HoldRequest): string {
  if (!tools) return '';
  const { searchesMax, limitField, own, readings } = tools;
  const images = own?.images?.imagesMax ?? 0;
  const parts = [
    ...(searchesMax > 0
      ? [`${count(searchesMax, 'web search', 'web searches')}, whose results are read as input`]
      : []),
    ...(images > 0 ? [count(images, 'image', 'images')] : []),
    ...(readings ? ['what the model reads of code and pages, up to its whole context'] : []),
  ];
  const isFew = limitField === null || Math.max(searchesMax, images) === 1;
  return ` with ${parts.join(', and ')}${isFew ? '' : `; a lower \`${limitField}\` allows fewer`}`;
}

function count(number: number, one: string, many: string): string {
  return number === 1 ? `one ${one}` : `${number} ${many}`;
}
