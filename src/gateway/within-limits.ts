// Runs a request within the limits of tokens a minute and of requests at once. However it ends, its slot is free again, and the tokens that
// were taken for it are set right by those that were used: a failure, or an answer that cost nothing, uses none.
import type { RequestTrace } from './gateway.ts';
import type { Admitted } from './admitted.ts';

export type WithinLimits = Pick<Admitted, 'rateHeaders'>;

/** Throws ApiError `rate_limit_exceeded`. */
export async function withinLimits(admitted: Admitted, action: (within: WithinLimits) => Promise<void>): Promise<void> {
  const { gateway, key, trace, work } = admitted;
  const place = await gateway.rateLimits.begin(key, work.countTokens(), admitted.rateHeaders);
  try {
    await action({ rateHeaders: place.headers });
  } finally {
    place.end(tokensUsed(trace));
  }
}

function tokensUsed({ inputTokens = 0, outputTokens = 0 }: RequestTrace): number {
  return inputTokens + outputTokens;
}
