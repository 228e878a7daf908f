// The requests that contestants get. The upstream and the relay get what the gateway would send
// upstream, so that all three exchange the same bytes with the upstream.
import { requestBody, type WireFormat } from './bodies.ts';

/**
 * How the upstream answers: `whole`; `burst`: a stream, all at once; `paced`: a stream over time;
 * `silent`: a stream that stops after its first event; `ahead`: an endless stream far ahead of its
 * reader.
 */
export type Play = 'whole' | 'burst' | 'paced' | 'silent' | 'ahead';

export type Request = {
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Workload = {
  readonly name: string;
  readonly play: Play;
  /** Sent to the gateway. */
  readonly asked: Request;
  /** Sent to the upstream, and to the relay in front of it. */
  readonly relayed: Request;
};

type Pair = { readonly client: WireFormat; readonly upstream: WireFormat };

const paths: Record<WireFormat, string> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

export const wholeAnswers: readonly Workload[] = [
  workload('chat', 'whole', { client: 'chat', upstream: 'chat' }),
  workload('messages', 'whole', { client: 'messages', upstream: 'messages' }),
  workload('responses', 'whole', { client: 'responses', upstream: 'responses' }),
  workload('chat-to-messages', 'whole', { client: 'chat', upstream: 'messages' }),
];

export const streams: readonly Workload[] = [
  workload('chat-stream', 'paced', { client: 'chat', upstream: 'chat' }),
  workload('chat-to-messages-stream', 'paced', { client: 'chat', upstream: 'messages' }),
  workload('chat-burst', 'burst', { client: 'chat', upstream: 'chat' }),
  workload('chat-to-messages-burst', 'burst', { client: 'chat', upstream: 'messages' }),
];

export const silentStream = workload('silent', 'silent', { client: 'chat', upstream: 'chat' });
export const streamAhead = workload('ahead', 'ahead', { client: 'chat', upstream: 'chat' });

/** Returns the upstream's path for a script: a prefix of its own before the provider's path. */
export function upstreamPath(play: Play, format: WireFormat): string {
  return `/${play}${paths[format]}`;
}

/**
 * Returns the gateway's model that reaches a script, at an upstream that speaks Messages or one
 * that speaks the other two formats.
 */
export function modelFor(play: Play, upstream: WireFormat): string {
  return `bench-${play}-${upstream === 'messages' ? 'anthropic' : 'openai'}`;
}

function workload(name: string, play: Play, { client, upstream }: Pair): Workload {
  const model = modelFor(play, upstream);
  const stream = play !== 'whole';
  return {
    name,
    play,
    asked: { path: paths[client], body: requestBody(client, model, stream) },
    relayed: {
      path: upstreamPath(play, upstream),
      body: requestBody(upstream, 'upstream-model', stream),
    },
  };
}
