// The interface of a host of transcriptions: what a call looks like, and what its answer says. Pure:
// the gateway does the HTTP.
import { readTokenCount, readTokenCounts, type TokenCounts } from '../../canonical/usage.ts';
import { isObject, type JsonObject, objectOf, listOf, textOf } from '../../lib/json.ts';
import type { FormField } from '../../lib/multipart.ts';
import type { TranscriptionTask } from '../../terms/transcription.ts';
import type { ProviderPlace, TaskAddress } from '../provider.ts';

/** `json` has the text; the others have segments too. */
type HostFormat = 'json' | 'verbose_json' | 'diarized_json';

export type TranscriptionJob = {
  readonly task: TranscriptionTask;
  readonly upstreamModel: string;
  readonly place: ProviderPlace;
  readonly format: HostFormat;
  readonly isEvents: boolean;
  /** Those that `ignores` does not have. */
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
  /** The media type, by the file's first bytes. */
  readonly mediaType: string;
  /** The most output tokens, which are held; null: it is not billed by tokens. */
  readonly outputTokensMax: number | null;
};

type TranscriptionCall = TaskAddress & {
  /**
   * Fields of a form with the file, JSON before and behind the file in base64, or the file alone.
   */
  readonly body:
    | { readonly form: readonly FormField[] }
    | { readonly around: readonly [before: string, after: string] }
    | 'file';
};

/** Why a host cannot serve a request. `language`: it needs the code of one language. */
export type Lack = 'translations' | 'times' | 'speakers' | 'language';

export type TranscriptionHost = {
  /** Returns null for a request that it can serve. `fields`: all of the request. */
  readonly lacks: (asked: Pick<TranscriptionJob, 'task' | 'format' | 'fields'>) => Lack | null;
  /** True when it lacks a field, or has it in other formats only. */
  readonly ignores: (field: string, format: HostFormat) => boolean;
  readonly streams: boolean;
  /**
   * At most so many input tokens a second, and output tokens beside the text. Left out: as at OpenAI.
   */
  readonly tokens?: { readonly perSecond: number; readonly beside: number };
  readonly write: (job: TranscriptionJob) => TranscriptionCall;
  /** Returns its answer in OpenAI's form. Left out: it has that form. */
  readonly read?: (body: JsonObject) => JsonObject;
};

/** For a host that only transcribes. */
export const lacksTranslations: TranscriptionHost['lacks'] = ({ task }) =>
  task === 'translations' ? 'translations' : null;

type Segment = { readonly start: number; readonly end: number; readonly text: string };

/** What all hosts call the same. */
export type Transcript = {
  readonly text: string;
  /** null: the answer has none, or a text without any. */
  readonly segments: readonly Segment[] | null;
  /** When its last word ends, rounded up; 0: it tells no words. */
  readonly spokenSeconds: number;
  /** Whole seconds of audio that the host counts, not 0. null: it does not. */
  readonly seconds: number | null;
  /** null: the host counts none. */
  readonly tokens: TokenCounts | null;
};

/** Returns null for an answer that is none. */
export function readTranscript(body: JsonObject): Transcript | null {
  const { text, segments, words, usage, duration } = body;
  if (typeof text !== 'string') return null;
  const list = Array.isArray(segments) ? segments.map(readSegment) : null;
  const isTimed = list && !list.includes(null) && (list.length > 0 || text.trim() === '');
  const last: unknown = Array.isArray(words) ? words.at(-1) : null;
  const end = isObject(last) && typeof last.end === 'number' ? last.end : 0;
  return {
    text,
    segments: isTimed ? (list as readonly Segment[]) : null,
    spokenSeconds: readTokenCount(Math.ceil(end)) ?? 0,
    seconds: readSeconds(objectOf(usage), duration),
    tokens: readTokenCounts(objectOf(usage).input_tokens, objectOf(usage).output_tokens),
  };
}

function readSegment(segment: unknown): Segment | null {
  const { start, end, text } = objectOf(segment);
  return isTime(start) && isTime(end) && typeof text === 'string' ? { start, end, text } : null;
}

/** JSON may have 1e999, which is read as infinite. */
const isTime = (value: unknown): value is number => Number.isFinite(value);

/** In the usage or beside it. Mistral has a name of its own, and OpenRouter counts parts of seconds. */
function readSeconds(usage: JsonObject, duration: unknown): number | null {
  const told = [usage.prompt_audio_seconds, usage.seconds, duration].map((value) =>
    typeof value === 'number' ? readTokenCount(Math.ceil(value)) : null,
  );
  return told.find(Boolean) ?? null;
}

type Word = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker?: unknown;
};

const wordsMax = 20;

/**
 * Returns the words of an answer in OpenAI's form, and segments of them: sentences of one speaker.
 * `text`: the whole text, whose words are parted by spaces if it has any. Empty: spaces are words.
 */
export function readWords(words: unknown, text: unknown): JsonObject {
  const joint = /\s/.test(textOf(text)) ? ' ' : '';
  const given = listOf(words).filter(isWord);
  const segments: { start: number; end: number; text: string; speaker: string }[] = [];
  let count = 0;
  for (const { text: word, start, end, speaker: label } of given) {
    const speaker = typeof label === 'string' || typeof label === 'number' ? String(label) : '0';
    const last = segments.at(-1);
    const isFull = last && (count >= wordsMax || /[.!?。！？]$/.test(last.text.trimEnd()));
    if (last && !isFull && last.speaker === speaker) {
      last.end = end;
      last.text += joint + word;
      count++;
    } else {
      segments.push({ start, end, text: word, speaker });
      count = 1;
    }
  }
  return {
    words: given.map(({ text: word, start, end }) => ({ word, start, end })),
    segments: segments.map((segment, id) => ({ id, type: 'transcript.text.segment', ...segment })),
  };
}

function isWord(value: unknown): value is Word {
  const { text, start, end } = objectOf(value);
  return typeof text === 'string' && isTime(start) && isTime(end);
}
