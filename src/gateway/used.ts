// What a call has used: by the provider's own count where it is whole and final, else by ours. A provider's count is untrusted input.
import { countUsage, totalInputTokens, type Usage } from '../canonical/usage.ts';
import { tokensFromBytes } from '../lib/tokens.ts';
import type { CallFailed } from './call.ts';
import { providerNameOf } from './route.ts';
import type { Running } from './running.ts';

export type Used = {
  readonly usage: Usage;
  /** Whose count it is: `estimate` where any of it is ours. */
  readonly source: 'upstream' | 'estimate';
  /** Web searches that the provider has run. */
  readonly searches: number;
};

type Told = { readonly usage: Usage | null; readonly searches?: number };

/** Of an answer that has come to its end. `usage`: what the provider has counted. */
export function finalUse(
  running: Running,
  { usage: told, searches, outputBytes }: Told & { readonly outputBytes: number },
): Used {
  const counted = countUsage(told, { estimatedInputTokens: running.estimate.likely, outputBytes });
  return usedOf(running, { told, counted, searches });
}

/**
 * Of a call that has not come to its end, whoever ended it: a provider's count from the middle of it may be older than what was seen since,
 * and neither knows what was written unseen. No more than the request may have at all.
 */
export function useSoFar(running: Running, { usage: told, searches, output }: CallFailed['progress']): Used {
  const { estimate, unseen, hold, request } = running;
  const unseenBytes = unseen.tokens * request.choices * bytesPerToken;
  const own = Math.min(tokensFromBytes(output.bytesWithUnseen(unseenBytes)), hold.maxOutputTokens * request.choices);
  const counted = countUsage(told, { estimatedInputTokens: estimate.likely, outputBytes: 0 });
  const usage = counted.outputTokens >= own ? counted : { ...counted, outputTokens: own };
  return usedOf(running, { told, counted: usage, searches });
}

/** Of our own count, as `tokensFromBytes` has it. */
const bytesPerToken = 4;

type Counted = { readonly told: Usage | null; readonly counted: Usage; readonly searches: number | undefined };

function usedOf(running: Running, { told, counted, searches = 0 }: Counted): Used {
  return {
    usage: clampUsage(running, counted),
    source: counted === told ? 'upstream' : 'estimate',
    searches: clampSearches(running, searches),
  };
}

/** No request can have more input than the context, nor more output than the model gives. */
function clampUsage({ model, request, gateway, requestId, attempt: { route, search } }: Running, usage: Usage): Usage {
  const outputMax = model.maxOutputTokens * request.choices;
  // Every search is a round of its own, whose input is counted again.
  const inputMax = model.contextTokens * (1 + (search?.searchesMax ?? 0));
  if (totalInputTokens(usage) <= inputMax && usage.outputTokens <= outputMax) return usage;
  gateway.log.warn(
    { request_id: requestId, provider: providerNameOf(route), usage },
    'the upstream reported more tokens than the model can take or give: clamped',
  );
  let room = inputMax;
  const take = (tokens: number) => {
    const taken = Math.min(tokens, room);
    room -= taken;
    return taken;
  };
  return {
    inputTokens: take(usage.inputTokens),
    cacheReadTokens: take(usage.cacheReadTokens),
    cacheWriteTokens: take(usage.cacheWriteTokens),
    cacheWrite1hTokens: take(usage.cacheWrite1hTokens),
    outputTokens: Math.min(usage.outputTokens, outputMax),
    reasoningTokens: Math.min(usage.reasoningTokens, usage.outputTokens, outputMax),
  };
}

/** The provider was told how many searches it may run: more than that is nothing the client asked for. */
function clampSearches({ attempt: { search }, gateway, requestId }: Running, searches: number): number {
  const searchesMax = search?.searchesMax ?? 0;
  if (searches <= searchesMax) return searches;
  gateway.log.warn(
    { request_id: requestId, searches, searchesMax },
    'the upstream reported more web searches than it was allowed: clamped',
  );
  return searchesMax;
}
