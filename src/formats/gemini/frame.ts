// The frames of a stream to a client. Google's SDKs know `data: ` and a blank line, and no comments,
// names of events or end line.
import type { JsonObject } from '../../lib/json.ts';
import { formatSse, type SseEvent } from '../../lib/sse.ts';

export function frame(chunk: JsonObject): string {
  return formatSse(null, JSON.stringify(chunk));
}

/** Without `alt=sse`, a stream is one JSON array: `[{…},\r\n{…}]`. JSON has no line breaks of its own. */
export function asArray(frames: string, isFirst: boolean): string {
  const chunks = frames.split('\n\n').slice(0, -1);
  return chunks
    .map((chunk, index) => (isFirst && index === 0 ? '[' : ',\r\n') + chunk.slice('data: '.length))
    .join('');
}

/** Reads what `asArray` has written. Every chunk stands in one line. */
export function readArray(frames: string): SseEvent[] {
  const chunks = frames
    .split('\n')
    .map((line) => line.replace(/^[[,]?/, '').replace(/[\],]?\r?$/, ''));
  return chunks.flatMap((data) => (data === '' ? [] : [{ event: '', data }]));
}
