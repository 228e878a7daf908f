// Transcribes the audio of one request at one route.
import type { TranscriptionRequest } from '../../domain/tasks/transcription-request.ts';
import { audioTypeOf } from '../../lib/audio-seconds.ts';
import type { JsonObject } from '../../lib/json.ts';
import { formatSse } from '../../lib/sse.ts';
import { transcribeInSandbox } from '../../providers/registry.ts';
import {
  readTranscript,
  type Transcript,
  type TranscriptionHost,
} from '../../providers/transcriptions/host.ts';
import type { TranscriptionTask } from '../../terms/transcription.ts';
import type { Calling, TaskRoute } from './task-sale.ts';
import { eventsType } from '../sales/unit-stream.ts';
import {
  brokenStream,
  openTask,
  readTaskEvents,
  sendTask,
  unreadable,
  UploadBody,
} from './task-call.ts';

/** `body`: as the host wrote it; of a stream, its last event. */
export type Transcribed = { readonly body: JsonObject; readonly transcript: Transcript };

/** Passes the events of a stream on, but the last. Throws UpstreamBroken. `seconds`: our own reading. */
export async function transcribeAt(
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
  if ((format === 'srt' || format === 'vtt') && transcript.segments === null)
    throw unreadable('the answer has no segments');
  if (isEvents && stream.firstByteMs === null)
    await pass({ type: 'transcript.text.delta', delta: transcript.text });
  return { body, transcript };
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
  const taken = Object.entries(fields).filter(([name]) => !host.ignores(name));
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
  const { body: written, ...to } = host.write(job);
  const body =
    'form' in written
      ? UploadBody.form(written.form, upload)
      : UploadBody.json(written.around, upload);
  const call = { ...to, body };
  if (!job.isEvents) {
    const answer = (await sendTask(sending, call)).body;
    return host.read?.(answer) ?? answer;
  }
  for await (const event of readTaskEvents(
    await openTask(sending, { ...call, answer: 'events' }),
  )) {
    if (event.type === 'transcript.text.done') return event;
    await pass(event);
  }
  throw brokenStream('the stream ended early');
}

/** Subtitles are written from segments, because hosts count nothing beside them, or lack them. */
export const hostFormats = {
  json: 'json',
  text: 'json',
  srt: 'verbose_json',
  vtt: 'verbose_json',
  verbose_json: 'verbose_json',
  diarized_json: 'diarized_json',
} as const;
