// What is asked of the contestants. The upstream and the relay get what the gateway would send upstream, so that all three move the same
// bytes to and from the upstream.
import { requestBody, type WireFormat } from './bodies.ts';

/** How the upstream plays its answer: whole, as a stream at once, as a stream in time, as a stream that says nothing after its first
 * event, or as one that is far ahead of its reader and has no end. */
export type Play = 'whole' | 'burst' | 'paced' | 'silent' | 'ahead';

export type Request = { readonly path: string; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

export type Workload = {
  readonly name: string;
  readonly play: Play;
  /** For the gateway. */
  readonly asked: Request;
  /** For the upstream, and for the relay in front of it. */
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

/** The upstream's path of a play: its own prefix before the provider's path. */
export function upstreamPath(play: Play, format: WireFormat): string {
  return `/${play}${paths[format]}`;
}

/** The gateway's model that leads to a play, at an upstream that speaks Messages or at one that speaks the other two. */
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
    relayed: { path: upstreamPath(play, upstream), body: requestBody(upstream, 'upstream-model', stream) },
  };
}
