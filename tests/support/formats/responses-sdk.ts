// Reads our streams with the official SDK. A file of its own, because the SDK is slow to load.
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import type { Response } from 'openai/resources/responses/responses';
import { parseSse } from './sse.ts';

/** What the SDK makes of a stream; it throws where an event is missing, out of order or of the wrong item. */
export function readWithSdk(frames: string): Promise<Response> {
  const lines = parseSse(frames).map(({ data }) => `${data}\n`);
  return ResponseStream.fromReadableStream(new Blob(lines).stream()).finalResponse();
}
