// Notes what a client is answered, for a key that keeps bodies: whole or streamed, new, cached or
// replayed. Errors are noted where they are sent (`middleware/errors.ts`).
import type { KeptExchange } from '../domain/bodies/kept-exchange.ts';
import { observeAnswer, type Client, type Headers } from '../gateway/client.ts';

/** Returns the client to answer. */
export function noteAnswer(client: Client, bodies: KeptExchange): Client {
  return observeAnswer(client, {
    onAnswer(body, headers) {
      if (!client.isGone()) bodies.noteAnswer(isAudio(headers) ? placeholderOf(headers) : body);
    },
    onStream(headers) {
      if (!isAudio(headers))
        return (frames) => {
          if (!client.isGone()) bodies.noteFrames(frames);
        };
      bodies.noteFrames(placeholderOf(headers));
      return () => {};
    },
  });
}

/** Kept bodies are read as text. */
function isAudio({ 'content-type': type = '' }: Headers): boolean {
  return type.startsWith('audio/');
}

function placeholderOf({ 'content-type': type }: Headers): string {
  return JSON.stringify({ answer: type });
}
