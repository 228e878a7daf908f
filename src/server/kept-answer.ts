// Notes what a client is answered, for a key that keeps bodies: whole or streamed, new, cached or
// replayed. Errors are noted where they are sent (`middleware/errors.ts`).
import type { KeptExchange } from '../domain/bodies/kept-exchange.ts';
import { observeAnswer, type Client } from '../gateway/client.ts';

/** Returns the client to answer. */
export function noteAnswer(client: Client, bodies: KeptExchange): Client {
  return observeAnswer(client, {
    onAnswer(body) {
      if (!client.isGone()) bodies.noteAnswer(body);
    },
    onStream: () => (frames) => {
      if (!client.isGone()) bodies.noteFrames(frames);
    },
  });
}
