// The official SDK as a judge of our streams; apart from the other fixtures because it is slow to load.
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import type { Response } from 'openai/resources/responses/responses';
import { parseSse } from './fixture.ts';

/** What the SDK makes of a stream; it throws where an event is missing, out of order or of the wrong item. */
export function readWithSdk(frames: string): Promise<Response> {
  const lines = parseSse(frames).map(({ data }) => `${data}\n`);
  return ResponseStream.fromReadableStream(new Blob(lines).stream()).finalResponse();
}
