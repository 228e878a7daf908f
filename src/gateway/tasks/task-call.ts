// Sends one request of a model that does not answer conversations, such as an embedding model.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { readErrorMessage } from '../../formats/error-message.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { randomBytes } from 'node:crypto';
import type { Upload } from '../../lib/upload.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { ChosenRoute } from '../routing/route.ts';
import { makeFailure } from '../calling/failure.ts';
import { withoutProvider } from '../calling/failure-message.ts';
import { timeoutsFor } from '../calling/timeouts.ts';
import type { AnswerTo, FailedReply } from '../calling/upstream-call.ts';
import type { Upstreams } from '../calling/upstreams.ts';

export type TaskCall = {
  readonly path: string;
  /** The path is the whole path, not below the base URL's. */
  readonly isAtOrigin?: boolean;
  readonly body: JsonObject | FormBody;
};

/** A form with a large file, which is read again for each call. */
export class FormBody {
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: () => AsyncIterable<Buffer>;

  constructor(fields: readonly (readonly [string, string])[], file: Upload) {
    const boundary = `tollgate-${randomBytes(18).toString('base64url')}`;
    const head = (disposition: string) =>
      `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`;
    const texts = fields.map(([name, text]) => `${head(`name="${name}"`)}\r\n${text}\r\n`);
    // Hosts tell the format by the name.
    const [extension = ''] = /\.[A-Za-z0-9]{1,5}$/.exec(file.name) ?? [];
    const fileHead = `${head(`name="file"; filename="audio${extension}"`)}content-type: application/octet-stream\r\n\r\n`;
    const before = Buffer.from(texts.join('') + fileHead);
    const after = Buffer.from(`\r\n--${boundary}--\r\n`);
    this.headers = {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(before.length + file.bytes + after.length),
    };
    this.pieces = async function* () {
      yield before;
      yield* file.pieces();
      yield after;
    };
  }
}

type Sending = {
  readonly upstreams: Upstreams;
  readonly model: Model;
  readonly route: ChosenRoute;
  readonly trace: TraceContext | null;
  readonly signal: AbortSignal;
};

export type TaskReply =
  | { readonly kind: 'answer'; readonly body: JsonObject; readonly inputTokens?: number }
  | {
      readonly kind: 'failure';
      readonly failure: UpstreamFailure;
      /** The provider may bill it: it broke off, or we left, when it had the request. */
      readonly mayBeBilled: boolean;
    };

export type FailedTask = Extract<TaskReply, { kind: 'failure' }>;

export async function sendTask(sending: Sending, call: TaskCall): Promise<TaskReply> {
  const reply = await sending.upstreams.send({ ...writeCall(sending, call, false), stream: false });
  if (reply.kind === 'failure') return failedTask(sending, reply);
  const { body, ...counted } = reply;
  return isObject(body) ? { ...counted, body } : unreadable('the answer is no object');
}

/** As `sendTask`, for a stream: of audio, or of server-sent events. */
export async function openTask(
  sending: Sending,
  call: TaskCall & { readonly answer: 'bytes' | 'events' },
): Promise<AnswerTo<true> | FailedTask> {
  const reply = await sending.upstreams.send({
    ...writeCall(sending, call, true),
    stream: true,
    ...(call.answer === 'bytes' && { answer: 'bytes' as const }),
  });
  return reply.kind === 'failure' ? failedTask(sending, reply) : reply;
}

function writeCall(
  { model, route: { provider, kind }, trace, signal }: Sending,
  { path, isAtOrigin = false, body }: TaskCall,
  stream: boolean,
) {
  return {
    provider,
    path,
    ...(isAtOrigin && { origin: new URL(provider.baseUrl).origin }),
    headers: {
      ...kind.headers(provider.apiKey, {}),
      ...(body instanceof FormBody && body.headers),
    },
    body: body instanceof FormBody ? body.pieces : JSON.stringify(body),
    timeouts: timeoutsFor(provider.timeouts, { model, stream }),
    trace,
    signal,
  };
}

function failedTask({ route: { provider, kind } }: Sending, reply: FailedReply): FailedTask {
  const message = readErrorMessage(reply.body) ?? reply.failure.message;
  const named = { ...reply.failure, message: withoutProvider(message, provider) };
  return {
    kind: 'failure',
    failure: kind.readFailure?.(named, reply.body) ?? named,
    mayBeBilled: reply.requestSent && reply.failure.kind !== 'status',
  };
}

/** The answer of a provider that cannot be used, and is billed. */
export function unreadable(problem: string): FailedTask {
  return { kind: 'failure', failure: makeFailure('unreadable', problem), mayBeBilled: true };
}
