// Runs a request within its limits of concurrent requests and tokens a minute. However it ends, its
// slot is freed, and its estimated tokens are corrected to those used: none for a failure or a free
// answer.
import type { Client } from '../client.ts';
import type { AnswerStorage } from '../replaying/answer-storage.ts';
import type { Accepted } from '../stages.ts';

/** Throws ApiError `rate_limit_exceeded`. */
export async function runWithinLimits(
  accepted: Accepted,
  client: Client,
  storage: AnswerStorage,
): Promise<void> {
  const { gateway, key, work, rateHeaders, nextTurn } = accepted;
  const { tokens, execute } = work.weigh();
  if (nextTurn) await nextTurn();
  const place = await gateway.rateLimits.begin(key, tokens, rateHeaders);
  let tokensUsed = 0;
  try {
    tokensUsed = await execute({ ...accepted, rateHeaders: place.headers }, client, storage);
  } finally {
    place.end(tokensUsed);
  }
}
