// A warm-up: a request that nothing is generated for (`generate: false`). It gets an empty answer
// with an id, of which the next request may say that it follows.
import type { Stop } from '../../canonical/event.ts';
import { noUsage } from '../../canonical/usage.ts';
import type { AnswerContext, ClientFormat } from '../../formats/format.ts';
import { withCost } from '../../formats/shown-usage.ts';
import type { Client, Headers } from '../client.ts';

const stop: Stop = { reason: 'end', sequence: null };

/** Sends the empty answer, whole or as a stream. */
export function answerWarmUp(
  client: Client,
  headers: Headers,
  { format, context }: { readonly format: ClientFormat; readonly context: AnswerContext },
): void {
  if (!context.request.stream) {
    const body = format.writeAnswer({ content: [], stop, usage: noUsage }, context);
    client.sendAnswer(JSON.stringify({ ...body, usage: withCost(body.usage, 0) }), headers);
    return;
  }
  const pipe = format.writeStream(context);
  const begin = pipe.push({ type: 'start', usage: null });
  const frames = begin + pipe.push({ type: 'finish', stop, usage: noUsage }) + pipe.close(0);
  client.startStream(headers, []).end(frames, {});
}
