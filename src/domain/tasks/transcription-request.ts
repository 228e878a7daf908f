// Parses the form of a request for a transcription or a translation, in OpenAI's form.
import { Type } from 'typebox';
import { invalidRequest } from '../../canonical/errors.ts';
import { objectOf } from '../../lib/json.ts';
import type { Upload } from '../../lib/upload.ts';
import { fieldReader, type TaskRequest } from './task-request.ts';

const transcriptFormats = ['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json'] as const;
type TranscriptFormat = (typeof transcriptFormats)[number];

const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));
const optionalText = (description: string) => Type.Optional(Type.String({ description }));

/** Every field is a text, as in a form; lists are named `include[]` and the like there. */
export const TranscriptionRequestSchema = Type.Object({
  model: Type.String({ minLength: 1 }),
  file: Type.Unsafe<{ bytes: number; sha256: string }>({
    type: 'object',
    description: 'The audio: FLAC, MP3, MP4, M4A, OGG, WAV, WebM or AAC.',
  }),
  response_format: Type.Optional(
    Type.Enum([...transcriptFormats], { description: 'Default: `json`.' }),
  ),
  stream: Type.Optional(
    Type.Enum(['true', 'false'], { description: '`true`: the text comes as events.' }),
  ),
  language: optionalText('The language of the audio, such as `en`.'),
  languages: texts('Languages that may occur, such as `en`.'),
  keywords: texts('Words that may occur.'),
  prompt: optionalText('Text before the audio, or names that occur in it.'),
  temperature: optionalText('From 0 to 1.'),
  timestamp_granularities: Type.Optional(
    Type.Array(Type.Enum(['segment', 'word']), { description: 'For `verbose_json`.' }),
  ),
  include: Type.Optional(Type.Array(Type.String(), { description: '`logprobs`' })),
  chunking_strategy: optionalText(
    '`auto`, or the settings of a detection of voices in the next four.',
  ),
  'chunking_strategy[type]': optionalText('`server_vad`'),
  'chunking_strategy[prefix_padding_ms]': optionalText('Audio before a voice that is kept.'),
  'chunking_strategy[silence_duration_ms]': optionalText('Silence that ends a part.'),
  'chunking_strategy[threshold]': optionalText('From 0 to 1: how loud a voice is.'),
  known_speaker_names: texts('Names of speakers.'),
  known_speaker_references: texts('Their voices, as data URLs.'),
});

const readFields = fieldReader(TranscriptionRequestSchema, 'file');
const ownFields = new Set(['model', 'file', 'response_format', 'stream']);

export type TranscriptionRequest = TaskRequest & {
  readonly upload: Upload;
  readonly format: TranscriptFormat;
  /** The text comes as server-sent events. */
  readonly isEvents: boolean;
  /** The other known fields, which hosts may take. */
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
};

/** Throws ApiError `invalid_request` that names the field. */
export function parseTranscriptionRequest(
  body: unknown,
  upload: Upload | null,
): TranscriptionRequest {
  // Forms send an empty text for none, as for a language that is to be detected
  // (github.com/Kochava-Studios/witsy/issues/340, read 2026-11-30).
  const given = Object.entries(objectOf(body)).filter(([, value]) => value !== '');
  const { fields: whole, ignored } = readFields(Object.fromEntries(given));
  if (!upload) throw invalidRequest('file', 'file must be the audio, as a file of the form');
  if (upload.bytes === 0) throw invalidRequest('file', 'file is empty; send the audio in it');
  const { response_format: format = 'json', stream, temperature = '0' } = whole;
  const heat = temperature.trim() === '' ? NaN : Number(temperature);
  if (!(heat >= 0 && heat <= 1))
    throw invalidRequest('temperature', 'temperature must be a number from 0 to 1');
  const isEvents = stream === 'true';
  if (isEvents && !['json', 'text', 'diarized_json'].includes(format))
    throw invalidRequest('response_format', `response_format ${format} cannot be streamed`);
  const others = Object.entries(whole).filter(
    ([name]) => !ownFields.has(name) && !ignored.includes(name),
  );
  return {
    body: whole,
    model: whole.model,
    upload,
    format,
    isEvents,
    fields: Object.fromEntries(others) as TranscriptionRequest['fields'],
    ignored,
  };
}
