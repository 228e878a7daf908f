// Calls of a provider's batch API.
import type { FailedReply } from '../../canonical/make-failure.ts';
import { unreadable, UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { Clock } from '../../lib/clock.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { hourMs } from '../../lib/utc-time.ts';
import type { BatchHost, HostCalls } from '../../providers/batches/host.ts';
import type { ForwardableHeaders } from '../../providers/provider.ts';
import { wordedFailure } from '../../providers/worded-failure.ts';
import type { UpstreamCall, UpstreamReply } from '../../providers/upstream-call.ts';
import type { Upstreams } from '../calling/upstreams.ts';
import type { ConnectedProvider } from '../routing/providers.ts';

type Callable = {
  readonly upstreams: Upstreams;
  readonly provider: ConnectedProvider;
  readonly api: BatchHost;
  readonly clock: Clock;
  readonly client: ForwardableHeaders;
  readonly signal: AbortSignal;
};

const callMs = 60_000;
/** No call that sends lines takes longer. */
export const sendMs = 600_000;
const idleMs = 120_000;

export class CallFailed extends UpstreamBroken {
  /** False when the call can have changed nothing: it was refused, or never sent. */
  readonly mayHaveRun: boolean;

  constructor(reply: FailedReply, { kind: host }: ConnectedProvider) {
    super(wordedFailure(reply, host));
    const { failure, requestSent } = reply;
    const { kind, status } = failure;
    const isRefused = kind === 'status' && status! < 500 && status !== 408 && status !== 409;
    this.mayHaveRun = requestSent && !isRefused;
  }
}

export function callsOf(callable: Callable): HostCalls {
  const { upstreams, provider, api, clock, client, signal } = callable;
  const addressOf = api.addressOf ?? ((path: string) => ({ path }));
  const headers = provider.kind.headers(provider.apiKey, client);
  const { connect_ms } = provider.timeouts;
  const within = (ms: number) => {
    const timeouts = { connect_ms, first_byte_ms: ms, idle_ms: idleMs, total_ms: ms };
    return { provider, signal, timeouts } as const;
  };
  return {
    async call(method, path, asked) {
      const body = asked === undefined ? null : JSON.stringify(asked);
      const at = { method, ...addressOf(path), headers } as const;
      const call = { ...within(callMs), ...at, body, stream: false } as const;
      return objectOf(await upstreams.send(call), provider, method);
    },
    async send(path, { bytes, pieces: body, headers: own }, method = 'POST') {
      const sent = { ...headers, ...own, 'content-length': String(bytes) };
      const at = { method, ...addressOf(path), headers: sent };
      const call = { ...within(sendMs), ...at, body, stream: false } as const;
      return objectOf(await upstreams.send(call), provider, method);
    },
    async read(path) {
      const reply = await upstreams.send({
        ...within(hourMs),
        method: 'GET',
        ...addressOf(path),
        headers: { ...headers, accept: '*/*' },
        body: null,
        stream: true,
        answer: 'file',
      });
      if (reply.kind === 'failure') throw new CallFailed(reply, provider);
      return reply.chunks;
    },
    pause: (ms) => clock.sleep(ms),
  };
}

function objectOf(
  reply: UpstreamReply<false>,
  provider: ConnectedProvider,
  method: UpstreamCall['method'],
): JsonObject {
  if (reply.kind === 'failure') {
    // Gemini's batch that has failed, shown with status 200: its `error` is no failure of the call.
    const { kind, isBilled } = reply.failure;
    if (kind === 'unreadable' && !isBilled && isObject(reply.body) && reply.body['name'])
      return reply.body;
    // Nothing was asked for but to do it. A list that is empty has no batch, and an empty text no list.
    if (kind === 'unreadable' && reply.body === '' && method !== 'GET') return {};
    throw new CallFailed(reply, provider);
  }
  if (reply.body === null) return {};
  if (!isObject(reply.body)) throw unreadable('the answer is no object');
  return reply.body;
}
