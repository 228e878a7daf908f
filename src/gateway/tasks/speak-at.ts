// Speaks the text of one request at one route, and passes the audio on as it comes.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { SpeechRequest } from '../../domain/speech/speech-request.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type {
  SpeechCount,
  SpeechHost,
  SpeechJob,
  SpeechPiece,
} from '../../providers/speech/host.ts';
import { speechHostOf } from '../../providers/speech/index.ts';
import { sandboxFormatOf, speakInSandbox } from '../../providers/registry.ts';
import type { SpeechFormat } from '../../terms/speech.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import type { Callable } from '../calling/call-route.ts';
import { makeFailure } from '../calling/failure.ts';
import type { Gateway } from '../gateway.ts';
import { orderRoutes } from '../routing/order.ts';
import { findRoutes, modelNotFound, type ChosenRoute } from '../routing/route.ts';
import { openTask, sendTask, type FailedTask } from './task-call.ts';
import { readTaskEvents } from './task-events.ts';

export type SpeechRoute = Callable & {
  readonly chosen: ChosenRoute;
  readonly host: SpeechHost;
  readonly format: SpeechFormat;
};

type RouteQuery = {
  readonly model: Model;
  readonly key: ApiKey;
  readonly request: SpeechRequest;
};

/** Returns the routes in order. Throws ApiError `model_not_found`, or 400 for a format that none makes. */
export function speechRoutes(
  { hosts }: Gateway,
  { model, key, request }: RouteQuery,
): readonly [SpeechRoute, ...SpeechRoute[]] {
  const found = findRoutes(hosts, { model, mode: key.mode, clientFormat: 'chat' });
  const all = orderRoutes(found, () => 1 - hosts.routing.random()).flatMap((chosen) => {
    const { provider, kind } = chosen;
    const host = speechHostOf({ kind: kind.kind, wishes: provider.wishes.speech });
    const baseUrl = chosen.isSandbox ? null : provider.baseUrl;
    const format = request.format ?? host?.formats[0];
    return host && format ? [{ chosen, host, format, route: chosen.name, baseUrl }] : [];
  });
  if (all.length === 0) throw modelNotFound(model.id);
  const [first, ...others] = all
    .filter(({ host, format }) => host.formats.includes(format))
    .map((one) => (one.chosen.isSandbox ? { ...one, format: sandboxFormatOf(one.format) } : one));
  if (first) return [first, ...others];
  const formats = [...new Set(all.flatMap(({ host }) => host.formats))];
  throw invalidRequest(
    'response_format',
    `response_format must be one of ${formats.join(', ')} for ${model.id}, or left out; got ${request.format}`,
  );
}

type ToSpeak = Pick<RouteQuery, 'model' | 'request'> & {
  readonly gateway: Gateway;
  readonly isByTokens: boolean;
  readonly trace: TraceContext | null;
  readonly signal: AbortSignal;
};

export type SpokenAt =
  | {
      readonly kind: 'spoken';
      readonly route: SpeechRoute;
      /** null: the host counts none. */
      readonly count: SpeechCount | null;
      readonly failure?: never;
    }
  /** `broken`: a part was passed on, so no other route can serve. */
  | {
      readonly kind: 'failure' | 'broken';
      readonly route: SpeechRoute;
      readonly failure: UpstreamFailure;
      readonly mayBeBilled: boolean;
    };

/** `passOn` resolves when there is room for more. */
export async function speakAt(
  route: SpeechRoute,
  asked: ToSpeak,
  passOn: (audio: Buffer) => Promise<void> | void,
): Promise<SpokenAt> {
  let count: SpeechCount | null = null;
  let bytes = 0;
  try {
    for await (const piece of speak(route, asked)) {
      if (piece.audio && piece.audio.length > 0) {
        bytes += piece.audio.length;
        if (bytes > audioBytesMax) throw broken(`the audio is over ${audioBytesMax} bytes`);
        await passOn(piece.audio);
      }
      if (piece.count) ({ count } = piece);
    }
    if (bytes === 0) throw broken('the answer has no audio');
    return { kind: 'spoken', route, count };
  } catch (error) {
    if (!(error instanceof UpstreamBroken)) throw error;
    const { failure } = error;
    const kind = bytes > 0 ? 'broken' : 'failure';
    return { kind, route, failure, mayBeBilled: failure.isBilled !== false };
  }
}

/** Stops an upstream that never ends: three hours of WAV. */
const audioBytesMax = 512 * 1024 * 1024;

function broken(
  message: string,
  kind: 'unreadable' | 'broken-stream' = 'unreadable',
): UpstreamBroken {
  return new UpstreamBroken(makeFailure(kind, message));
}

function failed({ failure, mayBeBilled }: FailedTask): UpstreamBroken {
  return new UpstreamBroken(mayBeBilled ? failure : { ...failure, isBilled: false });
}

/** Throws UpstreamBroken. */
async function* speak(
  { chosen, host, format }: SpeechRoute,
  { gateway, model, request, isByTokens, trace, signal }: ToSpeak,
): AsyncGenerator<SpeechPiece> {
  const { hosts, clock } = gateway;
  const { input, voice, instructions, speed } = request;
  if (chosen.isSandbox) {
    const played = await speakInSandbox({ input, format, signal, clock });
    if (played.kind === 'failure') throw failed({ ...played, mayBeBilled: false });
    for (const audio of played.pieces) yield { audio };
    if (played.isCut) throw broken('as was asked for', 'broken-stream');
    return yield { count: played.count };
  }
  const { upstreamModel, provider } = chosen;
  const said = { input, voice, instructions, format, speed };
  const job = { upstreamModel, place: provider.place, isByTokens, ...said };
  const call = host.write(job);
  const sending = { upstreams: hosts.upstreams, model, route: chosen, trace, signal };
  if (call.answer === 'json') {
    const reply = await sendTask(sending, call);
    if (reply.kind === 'failure') throw failed(reply);
    const piece = host.read(reply.body, job);
    if (!piece) throw broken('the answer has no audio');
    return yield piece;
  }
  const reply = await openTask(sending, { ...call, answer: call.answer });
  if (reply.kind === 'failure') throw failed(reply);
  if (call.answer === 'events') return yield* readEvents(reply.chunks, { host, job });
  for await (const chunk of reply.chunks) yield { audio: Buffer.from(chunk) };
}

/** Throws UpstreamBroken unless the last event comes. */
async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
  { host, job }: { readonly host: SpeechHost; readonly job: SpeechJob },
): AsyncGenerator<SpeechPiece> {
  for await (const event of readTaskEvents(chunks)) {
    const piece = host.read(event, job);
    if (!piece) throw broken('an event of the stream cannot be read');
    yield piece;
    if (piece.count !== undefined) return;
  }
  throw broken('the stream ended early', 'broken-stream');
}
