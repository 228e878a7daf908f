// What every pipe tells the gateway of a stream, and the failures that a stream can end in whatever its format.
import type { UpstreamFailure } from '../canonical/event.ts';
import type { StreamProgress } from './format.ts';

export function newProgress(): StreamProgress {
  return { status: 'running', usage: null, usageSoFar: null, earlyUsage: null, stop: null, outputBytes: 0, failure: null };
}

export function brokenStream(message = 'the stream ended without its last event'): UpstreamFailure {
  return { kind: 'broken-stream', status: null, message, retryAfterSeconds: null };
}

/** An event that cannot be read; it is cut, since an upstream may send anything. */
export function unreadableStream(message: string): UpstreamFailure {
  return { kind: 'unreadable', status: null, message: message.slice(0, 300), retryAfterSeconds: null };
}

export function repeatedStart(): UpstreamFailure {
  return unreadableStream('the stream starts a second time');
}

export function unreadableEvent(data: string): UpstreamFailure {
  return unreadableStream(`an event is not a JSON object: ${data.slice(0, 200)}`);
}
