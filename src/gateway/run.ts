// The life of a charged request, step by step, whatever it asks for. A Sale has what is specific to
// models, images and searches (sales/). Authentication comes earlier, before the body is read
// (server/middleware/authenticate.ts). docs/lifecycle.md draws the whole.
import { admit, withinLimits } from './admission/admit.ts';
import { endHold, placeHold, whileHeld } from './charging/under-hold.ts';
import type { Client } from './client.ts';
import { recordContent } from './content.ts';
import type { Gateway } from './gateway.ts';
import { requestHeaders } from './headers.ts';
import { readSale } from './sales/gone-model.ts';
import { answerOnce } from './replaying/answer-once.ts';
import type { IncomingRequest } from './request.ts';
import type { Endpoint } from './stages.ts';
import { readTags } from './tags.ts';

/** Answers the client, or throws the ApiError to answer with. Either way nothing stays held. */
export async function run(
  gateway: Gateway,
  endpoint: Endpoint,
  incoming: IncomingRequest,
  client: Client,
): Promise<void> {
  const { runs } = gateway;
  const { mode } = incoming.caller.key;
  // 1. Read.
  const tags = readTags(gateway, incoming.wishes.tags, incoming.body);
  const sale = await readSale(gateway, endpoint, incoming);
  // 2. Admit.
  const accepted = await admit(gateway, incoming, { sale, tags });
  const { spans } = incoming.caller.record;
  const observed = spans?.account?.includesContent ? recordContent(spans, sale, client) : client;
  if (sale.answerUnrun) return sale.answerUnrun(observed, requestHeaders(accepted));
  // 3. Replay, by its Idempotency-Key or from the cache, which is free; else run.
  await answerOnce(accepted, observed, (answered, storage) =>
    withinLimits(accepted, async (offer) => {
      // 4. Hold the most that it can cost.
      const placed = await placeHold(gateway.books, accepted, offer);
      return whileHeld(runs, { ...placed, client: answered, storage, mode }, async (held) => {
        // 5. Call a route, and others when it fails. Streams are passed on, but for their end.
        const outcome = await placed.offer.call(held);
        // 6. Charge, then answer: success is reported when its charge is durable.
        const settled = await endHold(held, outcome, runs);
        settled?.deliver();
        return settled?.tokens ?? 0;
      });
    }),
  );
}
