// How the hosts say that they failed: the body of an error status, and an event in a stream.
import type { UpstreamWireName } from './answers.ts';
import { encodeException } from './event-stream.ts';
import type { HostName, ModelHost } from './model-hosts.ts';
import type { SseFrame } from './upstream.ts';

type Failing = { readonly host: ModelHost };

const ofBedrock = (message: string, more: object): object => ({ message, ...more });

/** All others answer as Anthropic does. */
const bodies: Readonly<Partial<Record<HostName, (message: string, more: object) => object>>> = {
  converse: ofBedrock,
  cohere: (message, more) => ({ id: 'i', message, ...more }),
  invoke: ofBedrock,
  // Google's body, which comes in a list at times.
  vertex: (message, more) => [{ error: { code: 500, message, status: 'INTERNAL', ...more } }],
  azure: (message, more) => ({ error: { code: '500', message, innererror: more } }),
};

export function errorBodyOf({ host }: Failing, message: string, more: object = {}): string {
  const body = bodies[host.name]?.(message, more) ?? {
    type: 'error',
    error: { type: 'api_error', message, ...more },
  };
  return JSON.stringify(body);
}

const events: Readonly<Record<UpstreamWireName, (message: string) => SseFrame>> = {
  messages: (message) => ({
    event: 'error',
    data: { type: 'error', error: { type: 'api_error', message } },
  }),
  chat: (message) => ({ data: { error: { message, code: 500 } } }),
  responses: (message) => ({
    event: 'error',
    data: { type: 'error', sequence_number: 9, code: 'server_error', message },
  }),
  gemini: (message) => ({ data: { error: { code: 500, message, status: 'INTERNAL' } } }),
};

/** Binary streams have exceptions in place of events. */
export function errorFrameOf({ host }: Failing, message: string): SseFrame {
  if (host.wire === 'converse' || host.framing === 'invoke')
    return encodeException('internalServerException', message).toString('latin1');
  if (host.name === 'cohere')
    return {
      event: 'message-end',
      data: { type: 'message-end', delta: { finish_reason: 'ERROR' } },
    };
  return events[host.wire](message);
}
