// Sends one request of a model that does not answer conversations, such as an embedding model. What fails
// throws UpstreamBroken.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { FailedReply } from '../../canonical/make-failure.ts';
import { unreadable, UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { readVendorError } from '../../formats/error-message.ts';
import { isObject, type JsonObject, writeJson } from '../../lib/json.ts';
import type { SizedBody } from '../../lib/multipart.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { TaskAddress } from '../../providers/provider.ts';
import { wordedFailure } from '../../providers/worded-failure.ts';
import type { ChosenRoute } from '../routing/route.ts';
import { withoutSecrets } from '../calling/failure-message.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import type { UpstreamReply } from '../../providers/upstream-call.ts';
import type { Upstreams } from '../calling/upstreams.ts';

export type TaskCall = TaskAddress &
  ({ readonly body: JsonObject } | { readonly sized: SizedBody });

export type Sending = {
  readonly upstreams: Upstreams;
  readonly model: Model;
  readonly route: ChosenRoute;
  readonly trace: TraceContext | null;
  readonly signal: AbortSignal;
  /** Reads the answer of the provider's batch API. Left out: the provider is called. */
  readonly readPassed?: () => UpstreamReply<false>;
};

/** `inputTokens`: as a header counts them. */
export async function sendTask(
  sending: Sending,
  call: TaskCall,
): Promise<{ readonly body: JsonObject; readonly inputTokens?: number }> {
  const reply =
    sending.readPassed?.() ??
    (await sending.upstreams.send({ ...writeCall(sending, call, false), stream: false }));
  if (reply.kind === 'failure') throw failedTask(sending, reply);
  const { body: answer, ...counted } = reply;
  // SGLang's ranks are a list alone.
  const body = Array.isArray(answer) ? { data: answer } : answer;
  if (!isObject(body)) throw unreadable('the answer is no object');
  return { ...counted, body };
}

/** As `sendTask`, for a stream: of audio, or of server-sent events. */
export async function openTask(
  sending: Sending,
  call: TaskCall & { readonly answer: 'bytes' | 'events' },
): Promise<AsyncIterable<Uint8Array>> {
  const reply = await sending.upstreams.send({
    ...writeCall(sending, call, true),
    stream: true,
    ...(call.answer === 'bytes' && { answer: 'bytes' as const }),
  });
  if (reply.kind === 'failure') throw failedTask(sending, reply);
  return reply.chunks;
}

function writeCall(
  { model, route: { provider, kind }, trace, signal }: Sending,
  { path, isAtOrigin = false, keyHeaders, ...written }: TaskCall,
  stream: boolean,
) {
  const sized = 'sized' in written ? written.sized : null;
  return {
    provider,
    path,
    ...(isAtOrigin && { origin: new URL(provider.baseUrl).origin }),
    headers: {
      ...(keyHeaders === undefined || provider.apiKey === null
        ? kind.headers(provider.apiKey, {})
        : keyHeaders(provider.apiKey)),
      ...(sized && { ...sized.headers, 'content-length': String(sized.bytes) }),
    },
    body: 'sized' in written ? written.sized.pieces : writeJson(written.body),
    timeouts: timeoutsFor(provider.timeouts, { model, stream }),
    trace,
    signal,
  };
}

function failedTask({ route: { provider, kind } }: Sending, reply: FailedReply): UpstreamBroken {
  const said = { ...wordedFailure(reply, kind), ...readVendorError(reply.body) };
  const failure = withoutSecrets(said, provider);
  return new UpstreamBroken(reply.requestSent ? failure : { ...failure, isBilled: false });
}

/** The provider may bill it: it broke off, or we left, when it had the request. */
export function mayBeBilled({ kind, isBilled }: UpstreamFailure): boolean {
  return kind !== 'status' && isBilled !== false;
}
