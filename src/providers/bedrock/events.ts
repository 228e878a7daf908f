// Turns Bedrock's binary stream into server-sent events: Converse's as they are, and the vendor's own
// out of those of `invoke`.
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { readException } from '../../formats/converse/errors.ts';
import { brokenStream } from '../../formats/stream-progress.ts';
import {
  DamagedEventStream,
  EventStreamParser,
  type EventMessage,
} from '../../lib/event-stream.ts';
import { isObject, parseJson } from '../../lib/json.ts';
import { formatSse } from '../../lib/sse.ts';

export async function* toServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, undefined> {
  const parser = new EventStreamParser();
  for await (const chunk of chunks) {
    const frames: string[] = [];
    try {
      for (const message of parser.push(chunk)) frames.push(frameOf(message));
    } catch (error) {
      // What came before is good, and may have usage.
      if (frames.length > 0) yield Buffer.from(frames.join(''));
      throw asBroken(error);
    }
    if (frames.length > 0) yield Buffer.from(frames.join(''));
  }
  try {
    parser.end();
  } catch (error) {
    throw asBroken(error);
  }
}

function asBroken(error: unknown): unknown {
  return error instanceof DamagedEventStream
    ? new UpstreamBroken(brokenStream(error.message), { cause: error })
    : error;
}

function frameOf({ headers, payload }: EventMessage): string {
  const kind = headers.get(':message-type');
  const parsed = parseJson(payload);
  if (kind === 'exception' || kind === 'error') {
    const type = headers.get(':exception-type') ?? headers.get(':error-code') ?? 'exception';
    const words = headers.get(':error-message') ?? (parsed.ok ? parsed.value : null);
    throw new UpstreamBroken(readException(type, words));
  }
  const data = lineOf(payload);
  const inner = parsed.ok && isObject(parsed.value) ? parsed.value['bytes'] : undefined;
  if (typeof inner !== 'string') return formatSse(headers.get(':event-type') ?? null, data);
  const bytes = Buffer.from(inner, 'base64');
  const own = parseJson(bytes);
  if (!own.ok || !isObject(own.value)) return formatSse(null, lineOf(bytes));
  const { type } = own.value;
  const event = shownAnswer(own.value);
  const text = event === own.value ? lineOf(bytes) : JSON.stringify(event);
  return formatSse(typeof type === 'string' ? type : null, text);
}

/** JSON may be written in lines, which would end the data of a server-sent event. */
function lineOf(json: Buffer): string {
  return json.toString('utf8').replaceAll(/[\r\n]+/g, ' ');
}

/**
 * Leaves out what Bedrock adds to a vendor's answers and events: measurements, and what a guardrail of
 * the operator's account saw, with the words that it hid.
 */
export function shownAnswer(answer: unknown): unknown {
  if (!isObject(answer) || !Object.keys(answer).some(isAdded)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !isAdded(name)));
}

function isAdded(name: string): boolean {
  return name.startsWith('amazon-bedrock-');
}
