// A request for a transcription or a translation: seconds of audio at the model's price, or the
// provider's tokens. The hold follows our own reading of the file, the charge the provider's count.
import { makeFailure } from '../../canonical/make-failure.ts';
import { unreadable, UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { invalidRequest, quoted } from '../../canonical/errors.ts';
import { writeSrt, writeVtt } from '../../domain/tasks/subtitles.ts';
import {
  parseTranscriptionRequest,
  type TranscriptionRequest,
} from '../../domain/tasks/transcription-request.ts';
import { audioTypeOf, mostSeconds } from '../../lib/audio-seconds.ts';
import { brokenStream } from '../../formats/stream-progress.ts';
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import { writeForm, type SizedBody } from '../../lib/multipart.ts';
import { formatSse } from '../../lib/sse.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import { tokensFromBytes, utf8Length } from '../../lib/tokens-from-bytes.ts';
import type { Upload } from '../../lib/upload.ts';
import { transcribeInSandbox } from '../../providers/sandbox/transcribe.ts';
import {
  type Lack,
  readTranscript,
  type Transcript,
  type TranscriptionHost,
} from '../../providers/transcriptions/host.ts';
import { transcriptionHostOf } from '../../providers/transcriptions/index.ts';
import type { TranscriptionTask } from '../../terms/transcription.ts';
import { eventsType } from '../answering/output.ts';
import type { Endpoint } from '../stages.ts';
import { readJsonEvents } from '../calling/read-events.ts';
import { openTask, sendTask } from './task-call.ts';
import { sizeBy, usageOfTokens, type Count, type Size } from './task-price.ts';
import { taskEndpoint, type Calling, type TaskRoute } from './task-sale.ts';

export function transcriptionEndpoint(task: TranscriptionTask): Endpoint {
  return taskEndpoint<TranscriptionRequest, TranscriptionHost, Transcribed>({
    type: 'transcription',
    endpoint: 'transcriptions',
    read: parseTranscriptionRequest,
    hostOf: transcriptionHostOf,
    serves: (host, request) => lackOf(host, request, task) === null,
    refuse(request, { id }, hosts) {
      const lacks = hosts.map((host) => lackOf(host, request, task));
      const least = nearest.find((lack) => lacks.includes(lack))!;
      return invalidRequest(...refusals[least](id, request));
    },
    measure(request, _, routes) {
      const seconds = secondsOf(request);
      return {
        prompt: () => `(audio of ${seconds} seconds)`,
        tokens: tokensPerSecond.likely * seconds,
        sizeAs: (isByUnit) => sizeOf(request, routes, isByUnit),
      };
    },
    isStream: ({ isEvents }) => isEvents,
    async call(route, calling) {
      const seconds = secondsOf(calling.request);
      const made = await transcribeAt(route, calling, { task, seconds });
      return { made, ...counted(route, calling, made.transcript) };
    },
    ignoredAt: ({ ignores }, { fields, format }) =>
      Object.keys(fields).filter((name) => ignores(name, hostFormats[format])),
    answer({ body, transcript }, { request, count, isByUnit }) {
      const usage = {
        ...(isByUnit
          ? { type: 'duration', seconds: count.units }
          : { type: 'tokens', ...usageOfTokens(count) }),
        ...detailsOf(body),
      };
      if (!request.isEvents) return written(request, task, { body, transcript, usage });
      const { text } = transcript;
      const done = { ...notesOf(body), type: 'transcript.text.done', text };
      return {
        lastFrame: (cost) =>
          formatSse(null, JSON.stringify({ ...done, usage: { ...usage, cost } })) +
          formatSse(null, '[DONE]'),
      };
    },
  });
}

function lackOf(
  { lacks }: TranscriptionHost,
  { format, fields }: TranscriptionRequest,
  task: TranscriptionTask,
): Lack | null {
  return lacks({ task, format: hostFormats[format], fields });
}

type Refusal = (
  id: string,
  request: TranscriptionRequest,
) => readonly [field: string, message: string];

const refusals: Readonly<Record<Lack, Refusal>> = {
  translations: (id) => ['model', `no provider of ${id} translates; POST /v1/audio/transcriptions`],
  times: (id, { format }) => [
    'response_format',
    `response_format must be json or text for ${id}, whose provider tells no times; got ${format}`,
  ],
  speakers: (id) => [
    'response_format',
    `response_format must not be diarized_json for ${id}, which does not tell speakers apart`,
  ],
  language: (id, { fields: { language } }) => [
    'language',
    `language must be the code of the audio's language, such as en, for ${id}; got ${language ? quoted(String(language)) : 'none'}`,
  ],
};

/** Where hosts lack different things, the error names the first of these: what the client can mend. */
const nearest = ['language', 'speakers', 'times', 'translations'] as const;

/** Recordings have 10 input tokens a second. Speech is at most 16 tokens a second; speakers cost more. */
const tokensPerSecond = { likely: 14, input: 12, output: 16, outputWithSpeakers: 64 };
/** For audio so short that an answer's frame counts. */
const leastTokens = 100;

/** Our own reading, rounded up. */
function secondsOf({ upload }: TranscriptionRequest): number {
  return Math.ceil(upload.seconds ?? mostSeconds(upload));
}

/**
 * A header may lie short, so the provider's count is charged, up to what the bytes can hold; more is the
 * operator's loss.
 */
function sizeOf(
  request: TranscriptionRequest,
  routes: readonly TaskRoute<TranscriptionHost>[],
  isByUnit: boolean,
): Size {
  const { upload, format, fields } = request;
  const seconds = secondsOf(request);
  const count = Math.max(seconds, ...routes.map(secondsMinAt));
  const secondsMax = Math.max(count, Math.ceil(mostSeconds(upload)));
  const unit = { one: 'second', many: 'seconds' };
  if (isByUnit) return sizeBy('units', unit, { upper: count, likely: seconds, most: secondsMax });
  const promptTokens = estimateInputTokens(fields).upper;
  const hosts = routes.flatMap(({ host }) => host.tokens ?? []);
  const input = Math.max(tokensPerSecond.input, ...hosts.map(({ perSecond }) => perSecond));
  const beside = Math.max(leastTokens, ...hosts.map((host) => host.beside));
  const { output, outputWithSpeakers } = tokensPerSecond;
  const perSecond = format === 'diarized_json' ? outputWithSpeakers : output;
  return {
    unit,
    count,
    each: { inputTokens: input, outputTokens: perSecond },
    beside: { inputTokens: promptTokens, outputTokens: beside },
    likely: likelyTokens(seconds),
    most: {
      inputTokens: input * secondsMax + promptTokens,
      outputTokens: perSecond * secondsMax + beside,
    },
  };
}

function likelyTokens(seconds: number): Count {
  return { inputTokens: 10 * seconds, outputTokens: 4 * seconds };
}

function secondsMinAt({ chosen }: TaskRoute<TranscriptionHost>): number {
  const { transcription = {} } = chosen.provider.wishes;
  return typeof transcription === 'string' ? 0 : (transcription.secondsMin ?? 0);
}

/** Nobody speaks faster. */
const charactersPerSecond = 40;

/** Where the provider counts nothing, a header that lies short is told by what was said, and when. */
function counted(
  route: TaskRoute<TranscriptionHost>,
  { request, isByUnit }: Calling<TranscriptionRequest>,
  { text, seconds, tokens, spokenSeconds }: Transcript,
): { readonly count: Count; readonly isEstimate: boolean } {
  const sayingSeconds = Math.ceil(text.length / charactersPerSecond);
  const ownSeconds = Math.max(secondsOf(request), spokenSeconds, sayingSeconds);
  if (!isByUnit) {
    if (!tokens?.inputTokens) return { count: likelyTokens(ownSeconds), isEstimate: true };
    const outputTokens = tokens.outputTokens || tokensFromBytes(utf8Length(text));
    return { count: { ...tokens, outputTokens }, isEstimate: outputTokens !== tokens.outputTokens };
  }
  const units = Math.max(seconds || ownSeconds, secondsMinAt(route));
  return { count: { units }, isEstimate: !seconds };
}

/** Returns the languages and probabilities that the host told with its text. */
function notesOf({ languages, logprobs }: JsonObject): JsonObject {
  return {
    ...(languages !== undefined && { languages }),
    ...(logprobs !== undefined && { logprobs }),
  };
}

/** The segments as `diarized_json` and its events have them. */
function speakersOf({ segments }: JsonObject): readonly JsonObject[] {
  return objectsOf(segments).map((segment, index) => ({
    ...segment,
    type: 'transcript.text.segment',
    id: typeof segment.id === 'string' ? segment.id : `seg_${index}`,
  }));
}

function detailsOf({ usage }: JsonObject): JsonObject {
  const details = isObject(usage) ? usage.input_token_details : undefined;
  return details === undefined ? {} : { input_token_details: details };
}

function written(
  request: TranscriptionRequest,
  task: TranscriptionTask,
  { body, transcript, usage }: Transcribed & { readonly usage: JsonObject },
) {
  const { text, segments } = transcript;
  const contentType = 'text/plain; charset=utf-8';
  switch (request.format) {
    case 'text':
      return { body: `${text}\n`, contentType };
    case 'srt':
      return { body: writeSrt(segments ?? []), contentType };
    case 'vtt':
      return { body: writeVtt(segments ?? []), contentType };
    case 'json':
      return { body: { text, ...notesOf(body), usage } };
    case 'verbose_json':
    case 'diarized_json': {
      const told = {
        task: task === 'translations' ? 'translate' : 'transcribe',
        ...body,
        language: body.language ?? request.fields.language,
        duration: Number.isFinite(body.duration) ? body.duration : secondsOf(request),
        ...(request.format === 'diarized_json' && { segments: speakersOf(body) }),
        usage,
      };
      return { body: told };
    }
  }
}

/** `body`: as the host wrote it; of a stream, its last event. */
type Transcribed = { readonly body: JsonObject; readonly transcript: Transcript };

/** Passes the events of a stream on, but the last. Throws UpstreamBroken. `seconds`: our own reading. */
async function transcribeAt(
  route: TaskRoute<TranscriptionHost>,
  calling: Calling<TranscriptionRequest>,
  { task, seconds }: { readonly task: TranscriptionTask; readonly seconds: number },
): Promise<Transcribed> {
  const { request, stream, passOn } = calling;
  const { format, isEvents } = request;
  const pass = (event: JsonObject) =>
    passOn([Buffer.from(formatSse(null, JSON.stringify(event)))], eventsType);
  const body = await bodyOf(route, calling, { task, seconds, pass });
  const transcript = readTranscript(body);
  if (!transcript) throw unreadable('the answer has no text');
  // Other requests of the model need no times, so they must not lose the route.
  if (isSubtitles(format) && transcript.segments === null)
    throw new UpstreamBroken({ ...untimed, isCausedByAccount: true });
  if (isEvents && !stream.hasFrames) {
    const segments = format === 'diarized_json' ? speakersOf(body) : [];
    const { text: delta } = transcript;
    const events = segments.length > 0 ? segments : [{ type: 'transcript.text.delta', delta }];
    for (const event of events) await pass(event);
  }
  return { body, transcript };
}

const untimed = makeFailure('unreadable', 'the answer tells no times');

function isSubtitles(format: TranscriptionRequest['format']): boolean {
  return format === 'srt' || format === 'vtt';
}

type Transcribing = {
  readonly task: TranscriptionTask;
  readonly seconds: number;
  readonly pass: (event: JsonObject) => Promise<void>;
};

async function bodyOf(
  { chosen, host }: TaskRoute<TranscriptionHost>,
  { gateway: { clock }, request, size, isByUnit, sending }: Calling<TranscriptionRequest>,
  { task, seconds, pass }: Transcribing,
): Promise<JsonObject> {
  const { upload, fields, format, isEvents } = request;
  if (chosen.isSandbox) {
    const prompt = typeof fields.prompt === 'string' ? fields.prompt : '';
    const { signal } = sending;
    return transcribeInSandbox({ prompt, seconds, isByTokens: !isByUnit, signal, clock });
  }
  const { upstreamModel, provider } = chosen;
  // Words alone would make no subtitles.
  const isLeftOut = (name: string) =>
    host.ignores(name, hostFormats[format]) ||
    (name === 'timestamp_granularities' && isSubtitles(format));
  const taken = Object.entries(fields).filter(([name]) => !isLeftOut(name));
  const job = {
    task,
    upstreamModel,
    place: provider.place,
    format: hostFormats[format],
    // Models billed by the second do not stream.
    isEvents: isEvents && !isByUnit && host.streams,
    fields: Object.fromEntries(taken),
    mediaType: audioTypeOf(await upload.read(0, 12)),
    outputTokensMax: size.most.outputTokens ?? null,
  };
  const { body, ...to } = host.write(job);
  const call = { ...to, sized: bodyWith(body, upload, job.mediaType) };
  if (!job.isEvents) {
    const answer = (await sendTask(sending, call)).body;
    return host.read?.(answer) ?? answer;
  }
  // vLLM has chunks like Chat's, and ends each part of the audio (github.com/vllm-project/vllm/issues/49116,
  // read 2026-11-30).
  let [chunked, isWhole] = ['', false];
  for await (const event of readJsonEvents(
    await openTask(sending, { ...call, answer: 'events' }),
  )) {
    if (event.type === 'transcript.text.done') return event;
    if (event.object !== 'transcription.chunk') {
      await pass(event);
      continue;
    }
    const [choice] = objectsOf(event.choices);
    const delta = textOf(objectOf(choice?.delta).content);
    isWhole = Boolean(choice?.finish_reason);
    chunked += delta;
    if (chunked.length > chunkedMax) throw unreadable(`the text is over ${chunkedMax} characters`);
    if (delta !== '') await pass({ type: 'transcript.text.delta', delta });
  }
  if (isWhole) return { text: chunked };
  throw new UpstreamBroken(brokenStream('the stream ended early'));
}

/** A day of speech has a million. */
const chunkedMax = 4_000_000;

function bodyWith(
  body: ReturnType<TranscriptionHost['write']>['body'],
  file: Upload,
  mediaType: string,
): SizedBody {
  const { bytes } = file;
  const pieces = () => file.pieces();
  if (body === 'file') return { headers: { 'content-type': mediaType }, bytes, pieces };
  if ('around' in body) return jsonWith(body.around, file);
  // Hosts tell the format by the name; a browser's recording may have none.
  const [extension = mediaType.replace('audio/', '.')] =
    /\.[A-Za-z0-9]{1,5}$/.exec(file.name) ?? [];
  const part = { field: 'file', name: `audio${extension}`, mediaType: 'application/octet-stream' };
  return writeForm(body.form, [{ ...part, bytes, pieces }]);
}

/** Whole groups of three bytes, so that the pieces of base64 can be joined. */
const encodedBytes = 48 * 1024;

/** JSON, with the file in base64 between its two parts. */
function jsonWith(parts: readonly [before: string, after: string], file: Upload): SizedBody {
  const [before, after] = parts.map((text) => Buffer.from(text)) as [Buffer, Buffer];
  return {
    headers: { 'content-type': 'application/json' },
    bytes: before.length + 4 * Math.ceil(file.bytes / 3) + after.length,
    async *pieces() {
      yield before;
      for (let at = 0; at < file.bytes; at += encodedBytes)
        yield Buffer.from((await file.read(at, encodedBytes)).toString('base64'));
      yield after;
    },
  };
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
