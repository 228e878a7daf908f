// Transcribes the audio of one request at one route.
import { invalidRequest } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { TranscriptionRequest } from '../../domain/transcriptions/transcription-request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { Upload } from '../../lib/upload.ts';
import { transcribeInSandbox } from '../../providers/registry.ts';
import {
  readTranscript,
  type Transcript,
  type TranscriptionHost,
} from '../../providers/transcriptions/host.ts';
import { transcriptionHostOf } from '../../providers/transcriptions/index.ts';
import type { TranscriptionTask } from '../../terms/transcription.ts';
import type { Callable } from '../calling/call-route.ts';
import { makeFailure } from '../calling/failure.ts';
import type { Gateway } from '../gateway.ts';
import { orderRoutes } from '../routing/order.ts';
import { findRoutes, modelNotFound, type ChosenRoute } from '../routing/route.ts';
import { readTaskEvents } from './task-events.ts';
import { FormBody, openTask, sendTask, unreadable } from './task-call.ts';

export type TranscriptionRoute = Callable & {
  readonly chosen: ChosenRoute;
  readonly host: TranscriptionHost;
};

type RouteQuery = {
  readonly model: Model;
  readonly key: ApiKey;
  readonly task: TranscriptionTask;
};

/** Returns the routes in order. Throws ApiError `model_not_found`, or 400 for a model that does not translate. */
export function transcriptionRoutes(
  { hosts }: Gateway,
  { model, key, task }: RouteQuery,
): readonly [TranscriptionRoute, ...TranscriptionRoute[]] {
  const found = findRoutes(hosts, { model, mode: key.mode, clientFormat: 'chat' });
  const all = orderRoutes(found, () => 1 - hosts.routing.random()).flatMap((chosen) => {
    const { provider, kind } = chosen;
    const host = transcriptionHostOf({ kind: kind.kind, wishes: provider.wishes.transcription });
    const baseUrl = chosen.isSandbox ? null : provider.baseUrl;
    return host ? [{ chosen, host, route: chosen.name, baseUrl }] : [];
  });
  if (all.length === 0) throw modelNotFound(model.id);
  const [first, ...others] = all.filter(({ host }) => host.takes(task));
  if (first) return [first, ...others];
  throw invalidRequest(
    'model',
    `no provider of ${model.id} translates; POST /v1/audio/transcriptions`,
  );
}

type ToTranscribe = Pick<RouteQuery, 'model' | 'task'> & {
  readonly gateway: Gateway;
  readonly request: TranscriptionRequest;
  readonly upload: Upload;
  /** Our own reading, rounded up. */
  readonly seconds: number;
  readonly isByTokens: boolean;
  readonly trace: TraceContext | null;
  readonly signal: AbortSignal;
};

export type TranscribedAt = { readonly route: TranscriptionRoute } & (
  | {
      readonly kind: 'transcribed';
      /** As the host wrote it; of a stream, its last event. */
      readonly body: JsonObject;
      readonly transcript: Transcript;
      readonly failure?: never;
    }
  /** `broken`: a part was passed on, so no other route can serve. */
  | {
      readonly kind: 'failure' | 'broken';
      readonly failure: UpstreamFailure;
      readonly mayBeBilled: boolean;
    }
);

/** `passOn`: gets the events of a stream but the last. */
export async function transcribeAt(
  route: TranscriptionRoute,
  asked: ToTranscribe,
  passOn: (event: JsonObject) => Promise<void>,
): Promise<TranscribedAt> {
  const { gateway, model, task, request, upload, seconds, isByTokens, trace, signal } = asked;
  const { chosen, host } = route;
  const { fields, format, isEvents } = request;
  if (chosen.isSandbox) {
    const prompt = typeof fields.prompt === 'string' ? fields.prompt : '';
    const { clock } = gateway;
    const played = await transcribeInSandbox({ prompt, seconds, isByTokens, signal, clock });
    if (played.kind === 'failure') return { ...played, route, mayBeBilled: false };
    return { ...transcribed(played.body), route };
  }
  const { upstreamModel, provider } = chosen;
  const taken = Object.entries(fields).filter(([name]) => !host.ignores(name));
  const job = {
    task,
    upstreamModel,
    place: provider.place,
    format: hostFormats[format],
    // Models billed by the second do not stream.
    isEvents: isEvents && isByTokens,
    fields: Object.fromEntries(taken),
  };
  const call = { path: host.path(job), body: new FormBody(host.write(job), upload) };
  const { upstreams } = gateway.hosts;
  const sending = { upstreams, model, route: chosen, trace, signal };
  if (!job.isEvents) {
    const reply = await sendTask(sending, call);
    return { ...(reply.kind === 'failure' ? reply : transcribed(reply.body)), route };
  }
  const reply = await openTask(sending, { ...call, answer: 'events' });
  if (reply.kind === 'failure') return { ...reply, route };
  let hasBegun = false;
  try {
    for await (const event of readTaskEvents(reply.chunks)) {
      if (event.type === 'transcript.text.done') return { ...transcribed(event), route };
      hasBegun = true;
      await passOn(event);
    }
    throw new UpstreamBroken(makeFailure('broken-stream', 'the stream ended early'));
  } catch (error) {
    if (!(error instanceof UpstreamBroken)) throw error;
    const { failure } = error;
    return { kind: hasBegun ? 'broken' : 'failure', failure, mayBeBilled: true, route };
  }
}

/** Subtitles are written from segments, because hosts count nothing beside them, or lack them. */
const hostFormats = {
  json: 'json',
  text: 'json',
  srt: 'verbose_json',
  vtt: 'verbose_json',
  verbose_json: 'verbose_json',
  diarized_json: 'diarized_json',
} as const;

function transcribed(body: JsonObject) {
  const transcript = readTranscript(body);
  if (!transcript) return unreadable('the answer has no text');
  return { kind: 'transcribed', body, transcript } as const;
}
