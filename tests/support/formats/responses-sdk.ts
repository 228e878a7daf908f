// Reads our streams with the official SDK. In its own file because the SDK loads slowly.
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import type { Response } from 'openai/resources/responses/responses';
import { parseSse } from './sse.ts';

/**
 * Returns the SDK's reading of a stream. The SDK throws on a missing or misplaced event, or one of
 * the wrong item.
 */
export function readWithSdk(frames: string): Promise<Response> {
  const lines = parseSse(frames).map(({ data }) => `${data}\n`);
  return ResponseStream.fromReadableStream(new Blob(lines).stream()).finalResponse();
}
