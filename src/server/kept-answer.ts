// Notes what a client is answered, for a key that keeps bodies: whole or streamed, new, cached or
// replayed. Errors are noted where they are sent (`middleware/errors.ts`).
import type { KeptExchange } from '../domain/bodies/kept-exchange.ts';
import type { Client } from '../gateway/client.ts';

/** Returns the client to answer. */
export function noteAnswer(client: Client, bodies: KeptExchange): Client {
  return {
    isGone: () => client.isGone(),
    onGone: (callback) => client.onGone(callback),
    sendAnswer(body, headers) {
      if (!client.isGone()) bodies.noteAnswer(body);
      client.sendAnswer(body, headers);
    },
    startStream(headers, trailerNames) {
      const stream = client.startStream(headers, trailerNames);
      const note = (frames: string | Buffer) => {
        if (!client.isGone()) bodies.noteFrames(frames);
      };
      return {
        write(frames) {
          note(frames);
          return stream.write(frames);
        },
        keepAlive: (frame) => stream.keepAlive(frame),
        end(frames, trailers) {
          note(frames);
          stream.end(frames, trailers);
        },
      };
    },
  };
}
