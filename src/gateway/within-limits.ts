// Runs a request within the limits of tokens a minute and of requests at once. However it ends, its slot is free again, and the tokens that
// were taken for it are set right by those that were used: a failure, or an answer that cost nothing, uses none.
import { estimateInputTokens, type InputEstimate } from '../lib/tokens.ts';
import type { Headers } from './client.ts';
import type { Gateway, RequestTrace } from './gateway.ts';
import type { Admitted } from './admitted.ts';

export type WithinLimits = { readonly estimate: InputEstimate; readonly rateHeaders: Headers };

/** Throws ApiError `rate_limit_exceeded`. */
export async function withinLimits(admitted: Admitted, action: (within: WithinLimits) => Promise<void>): Promise<void> {
  const { gateway, key, trace, request } = admitted;
  const estimate = estimateInputTokens(request.body);
  const tokens = estimate.likely + outputTokensToTake(gateway, admitted);
  const place = await gateway.rateLimits.begin(key, tokens, admitted.rateHeaders);
  try {
    await action({ estimate, rateHeaders: place.headers });
  } finally {
    place.end(tokensUsed(trace));
  }
}

/**
 * No more than a stream's first slice, whatever limit the client names: agents always name the model's whole, use a hundredth of it, and
 * would wait for a minute that nobody has used.
 */
function outputTokensToTake({ config }: Gateway, { request, model }: Admitted): number {
  const named = request.maxOutputTokens ?? config.limits.default_max_output_tokens;
  return Math.min(named, model.maxOutputTokens, config.limits.hold_slice_tokens) * request.choices;
}

function tokensUsed({ inputTokens = 0, outputTokens = 0 }: RequestTrace): number {
  return inputTokens + outputTokens;
}
