// Calls of a provider's batch API.
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { readErrorMessage } from '../../formats/error-message.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { HostCalls } from '../../providers/batches/host.ts';
import { unreadable } from '../../providers/batches/shared.ts';
import type { ForwardableHeaders } from '../../providers/provider.ts';
import type { FailedReply, UpstreamReply } from '../calling/upstream-call.ts';
import type { Upstreams } from '../calling/upstreams.ts';
import type { ConnectedProvider } from '../routing/providers.ts';

type Callable = {
  readonly upstreams: Upstreams;
  readonly provider: ConnectedProvider;
  readonly client: ForwardableHeaders;
  readonly signal: AbortSignal;
};

const callMs = 60_000;
/** No call that sends lines takes longer. */
export const sendMs = 600_000;
const readMs = 3_600_000;
const idleMs = 120_000;

export class CallFailed extends UpstreamBroken {
  /** False when the call can have changed nothing: it was refused, or never sent. */
  readonly mayHaveRun: boolean;

  constructor({ failure, body, requestSent }: FailedReply, { kind: host }: ConnectedProvider) {
    const named = { ...failure, message: readErrorMessage(body) ?? failure.message };
    super(host.readFailure?.(named, body) ?? named);
    const { kind, status } = failure;
    const isRefused = kind === 'status' && status! < 500 && status !== 408 && status !== 409;
    this.mayHaveRun = requestSent && !isRefused;
  }
}

export function callsOf({ upstreams, provider, client, signal }: Callable): HostCalls {
  const headers = provider.kind.headers(provider.apiKey, client);
  const { connect_ms } = provider.timeouts;
  const timeouts = (ms: number) => ({
    connect_ms,
    first_byte_ms: ms,
    idle_ms: idleMs,
    total_ms: ms,
  });
  const shared = { provider, signal } as const;
  return {
    call: async (method, path, body) =>
      objectOf(
        await upstreams.send({
          ...shared,
          method,
          path,
          headers,
          body: body === undefined ? null : JSON.stringify(body),
          stream: false,
          timeouts: timeouts(callMs),
        }),
        provider,
      ),
    send: async (path, { bytes, pieces, headers: own }) =>
      objectOf(
        await upstreams.send({
          ...shared,
          path,
          headers: { ...headers, ...own, 'content-length': String(bytes) },
          body: pieces,
          stream: false,
          timeouts: timeouts(sendMs),
        }),
        provider,
      ),
    async read(path) {
      const reply = await upstreams.send({
        ...shared,
        method: 'GET',
        path,
        headers: { ...headers, accept: '*/*' },
        body: null,
        stream: true,
        answer: 'file',
        timeouts: timeouts(readMs),
      });
      if (reply.kind === 'failure') throw new CallFailed(reply, provider);
      return reply.chunks;
    },
  };
}

function objectOf(reply: UpstreamReply<false>, provider: ConnectedProvider): JsonObject {
  if (reply.kind === 'failure') {
    // Gemini's batch that has failed, shown with status 200: its `error` is no failure of the call.
    const { kind, isBilled } = reply.failure;
    if (kind === 'unreadable' && !isBilled && isObject(reply.body) && reply.body['name'])
      return reply.body;
    throw new CallFailed(reply, provider);
  }
  if (reply.body === null) return {};
  if (!isObject(reply.body)) throw unreadable('the answer is no object');
  return reply.body;
}
