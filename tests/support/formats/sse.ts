import { SseParser, type SseEvent } from '../../../src/lib/sse.ts';

/** Returns all events of a whole stream. */
export function parseSse(bytes: string | Uint8Array): SseEvent[] {
  const parser = new SseParser();
  return [...parser.push(Buffer.from(bytes)), ...parser.end()];
}
