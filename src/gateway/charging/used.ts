// Computes what a call has used: by the provider's count when it is complete and final, else by
// ours. A provider's count is untrusted.
import {
  countUsage,
  exceeds,
  totalInputTokens,
  type Usage,
  type UsageMax,
} from '../../canonical/usage.ts';
import { tokensFromBytes } from '../../lib/tokens-from-bytes.ts';
import type { FailedCall } from '../calling/failed-call.ts';
import {
  inputTokensWithTools,
  likelyInputTokensAfter,
  pagesMost,
  roundsWith,
} from '../routing/asked-tools.ts';
import type { Attempt } from '../routing/plan.ts';
import type { ModelRequest } from '../routing/write-request.ts';
import type { CalledModel as Called } from './model-call.ts';

export type Used = {
  readonly usage: Usage;
  /** The source of the count: `estimate` when any part is ours. */
  readonly source: 'upstream' | 'estimate';
  /** Web searches that the provider ran. */
  readonly searches: number;
  /** Those that it counts; more than it was allowed, if it has no limit, as Google. */
  readonly claimedSearches: number;
  /** The use as the provider counts it, if the request could not have caused so much, else null. */
  readonly claimed: Usage | null;
};

type Report = {
  readonly usage: Usage | null;
  readonly searches?: number;
  readonly outputBytes: number;
};

/** Returns the use of a complete answer. `usage`: the provider's count. */
export function finalUse(called: Called, report: Report): Used {
  return useOf(called, report, (counted) => counted);
}

/**
 * Returns the use of a call that ended early, at most the request's maximum. A provider's count
 * from mid-stream may be older than the output seen since. Neither includes unseen output.
 */
export function useSoFar(called: Called, progress: FailedCall['progress']): Used {
  const { asked, call } = called;
  const { usage, searches = 0, output } = progress;
  return useOf(called, { usage, searches, outputBytes: 0 }, (counted, max) => {
    const { unseen } = call;
    const unseenBytes = unseen.tokens * asked.request.choices * bytesPerToken;
    const own = Math.min(tokensFromBytes(output.bytesWithUnseen(unseenBytes)), max.outputTokens);
    const withInput = withRounds(called, counted, progress);
    return withInput.outputTokens >= own ? withInput : { ...withInput, outputTokens: own };
  });
}

/** `complete`: adds to the provider's count what it may lack. */
function useOf(
  called: Called,
  { usage: reported, searches = 0, outputBytes }: Report,
  complete: (counted: Usage, max: UsageMax) => Usage,
): Used {
  const { gateway, asked, call } = called;
  const { attempt } = call;
  const max = usageMaxOf(called);
  if (reported) gateway.hosts.routing.noteCounts(attempt.route.name, reported);
  const own = ownCountOf(asked, attempt);
  const counted = complete(countUsage(reported, { ...own, outputBytes, usageMax: max }), max);
  return {
    usage: counted,
    source: counted === reported ? 'upstream' : 'estimate',
    searches: clampSearches(called, searches),
    claimedSearches: attempt.tools ? searches : 0,
    claimed: reported && claimOf(called, { reported, counted, max }),
  };
}

/**
 * Adds what the provider's searches, code and pages made the model read. A count from mid-stream is
 * older than they are.
 */
function withRounds(
  { asked, call }: Called,
  counted: Usage,
  { searches = 0, codeRuns = 0, pages = 0 }: FailedCall['progress'],
): Usage {
  const { estimate, model, request } = asked;
  const { contextTokens } = model;
  const { tools } = call.attempt;
  const done = {
    searches: tools?.billsResults ? Math.min(searches, tools.searchesMax) : 0,
    codeRuns: Math.min(codeRuns, (tools?.readings ?? 0) * request.choices),
    pages: tools?.readings ? Math.min(pages, pagesMost * request.choices) : 0,
  };
  if (done.searches + done.codeRuns + done.pages === 0) return counted;
  const read = likelyInputTokensAfter(done, { promptTokens: estimate.likely, contextTokens });
  const missing = Math.max(read - totalInputTokens(counted), 0);
  return missing === 0 ? counted : { ...counted, inputTokens: counted.inputTokens + missing };
}

/** The ratio of our own count, as in `tokensFromBytes`. */
export const bytesPerToken = 4;

/**
 * The most input that a provider adds to a request: its own prompts for tools and citations. In 114
 * recorded answers of 2026 up to 330 tokens beyond our upper estimate; a vendor's tools for shell,
 * editor and screen add more.
 */
const vendorPromptTokens = 3_000;

/**
 * Returns the most that the request can cause: its output limit, and a token for each byte of its
 * input. A document or a provider's search can fill the model's context; after a tool of
 * ours, the model reads what it gave and its own output again.
 */
export function usageMaxOf({ asked, granted, call: { attempt } }: Called): UsageMax {
  const { model, request } = asked;
  const { choices, prompts = 1 } = request;
  const contextTokens = model.contextTokens * prompts;
  const { tools } = attempt;
  const { estimate } = granted.wanted;
  const again = tools ? granted.maxOutputTokens : 0;
  return {
    inputTokens:
      (!tools || tools.own
        ? inputTokensWithTools(tools, {
            promptTokens: estimate.most + vendorPromptTokens + again,
            contextTokens,
          })
        : // Every search or run of code is a round of its own, whose input counts again.
          contextTokens * roundsWith(tools)) *
      // Some providers bill the prompt for each choice, and each may run code.
      (choices / prompts),
    audioTokens: (estimate.audio.most * roundsWith(tools) * choices) / prompts,
    outputTokens: granted.maxOutputTokens * choices,
  };
}

/** Returns our own count of the input, and of the sound in it if that has a price of its own. */
export function ownCountOf(
  { estimate }: Pick<ModelRequest, 'estimate'>,
  { price }: Pick<Attempt, 'price'>,
) {
  const isPricedApart = estimate.hasSound && price.list.base.audio !== undefined;
  return {
    estimatedInputTokens: estimate.likely,
    ...(isPricedApart && { estimatedAudioTokens: estimate.audio.likely }),
  };
}

/**
 * Returns the use with all that the provider counts, when that is more than the request could cause,
 * else null.
 */
function claimOf(
  { gateway, caller, call: { attempt } }: Called,
  { reported, counted, max }: Counted,
): Usage | null {
  if (!exceeds(reported, max)) return null;
  gateway.log.warn(
    { request_id: caller.requestId, provider: attempt.route.name.provider, usage: reported, max },
    'the upstream reported more tokens than the request could cause: the rest is booked as a loss',
  );
  return {
    ...(totalInputTokens(reported) >= totalInputTokens(counted) ? reported : counted),
    outputTokens: Math.max(reported.outputTokens, counted.outputTokens),
  };
}

type Counted = { readonly reported: Usage; readonly counted: Usage; readonly max: UsageMax };

/** Limits searches to the maximum sent to the provider: the client asked for no more. */
function clampSearches({ call, gateway, caller: { requestId } }: Called, searches: number): number {
  const searchesMax = call.attempt.tools?.searchesMax ?? 0;
  if (searches <= searchesMax) return searches;
  gateway.log.warn(
    { request_id: requestId, searches, searchesMax },
    'the upstream reported more web searches than it was allowed: the rest is booked as a loss',
  );
  return searchesMax;
}
