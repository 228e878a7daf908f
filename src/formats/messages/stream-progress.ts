// What both pipes of this folder tell the gateway of a stream.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { StreamProgress } from '../format.ts';

export function newProgress(): StreamProgress {
  return { status: 'running', usage: null, earlyUsage: null, stop: null, outputBytes: 0, failure: null };
}

export function brokenStream(): UpstreamFailure {
  return { kind: 'broken-stream', status: null, message: 'the stream ended without its last event', retryAfterSeconds: null };
}

export function unreadableEvent(data: string): UpstreamFailure {
  return {
    kind: 'unreadable',
    status: null,
    message: `an event is not a JSON object: ${data.slice(0, 200)}`,
    retryAfterSeconds: null,
  };
}
