// The progress of a new stream, and the failures that a stream of any format can end with.
import type { UpstreamFailure } from '../canonical/event.ts';
import { makeFailure } from '../canonical/make-failure.ts';
import { OutputMeter } from '../canonical/output-bytes.ts';
import { isEventTooDeep } from './event-data.ts';
import type { StreamProgress } from './format.ts';

export function newProgress(): StreamProgress {
  return { status: 'running', usage: null, stop: null, output: new OutputMeter(), failure: null };
}

export function brokenStream(message = 'the stream ended without its last event'): UpstreamFailure {
  return makeFailure('broken-stream', message);
}

/** An event that cannot be read. Its text is cut, because an upstream may send anything. */
function unreadableStream(message: string): UpstreamFailure {
  return makeFailure('unreadable', message.slice(0, 300));
}

/**
 * The model's output is not a valid answer: for example, a call without a name. `brokeOff`: as that
 * of `Stop`.
 */
export function invalidOutput(message: string, brokeOff?: string): UpstreamFailure {
  return { ...unreadableStream(message), isBilled: true, isCausedByAccount: true, brokeOff };
}

export function repeatedStart(): UpstreamFailure {
  return unreadableStream('the stream, or a part of it, starts a second time');
}

/** The failure of an event that `parseEventData` cannot read or that is not an object. */
export function unreadableEvent(data: string): UpstreamFailure {
  // A model can be asked for deep arguments, so the account may have caused it.
  if (isEventTooDeep(data)) return invalidOutput('an event is nested too deep');
  return unreadableStream(`an event is not a JSON object: ${data.slice(0, 200)}`);
}
