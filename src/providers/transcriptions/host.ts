// The interface of a host of transcriptions: the fields of its form, and what its answer says. Pure:
// the gateway does the HTTP.
import { readTokenCount, readTokenCounts, type TokenCounts } from '../../canonical/usage.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { TranscriptionTask } from '../../terms/transcription.ts';
import type { ProviderPlace } from '../provider.ts';

type TranscriptionJob = {
  readonly task: TranscriptionTask;
  readonly upstreamModel: string;
  readonly place: ProviderPlace;
  /** `json` has the text; the others have segments too. */
  readonly format: 'json' | 'verbose_json' | 'diarized_json';
  readonly isEvents: boolean;
  /** Those that `ignores` does not have. */
  readonly fields: Readonly<Record<string, string | readonly string[]>>;
};

export type TranscriptionHost = {
  readonly takes: (task: TranscriptionTask) => boolean;
  /** True when it lacks a field. */
  readonly ignores: (field: string) => boolean;
  readonly path: (job: TranscriptionJob) => string;
  readonly write: (job: TranscriptionJob) => readonly (readonly [name: string, text: string])[];
};

export type TranscriptionUsage =
  | { readonly kind: 'seconds'; readonly seconds: number }
  | ({ readonly kind: 'tokens' } & TokenCounts);

type Segment = { readonly start: number; readonly end: number; readonly text: string };

/** What all hosts call the same. */
export type Transcript = {
  readonly text: string;
  /** null: the answer has none. */
  readonly segments: readonly Segment[] | null;
  /** null: the host counts nothing. */
  readonly usage: TranscriptionUsage | null;
};

/** Returns null for an answer that is none. */
export function readTranscript({ text, segments, usage, duration }: JsonObject): Transcript | null {
  if (typeof text !== 'string') return null;
  const list = Array.isArray(segments) ? segments.map(readSegment) : null;
  return {
    text,
    segments: list?.includes(null) ? null : (list as readonly Segment[] | null),
    usage: readUsage(isObject(usage) ? usage : {}, duration),
  };
}

function readSegment(segment: unknown): Segment | null {
  const { start, end, text } = isObject(segment) ? segment : {};
  return typeof start === 'number' && typeof end === 'number' && typeof text === 'string'
    ? { start, end, text }
    : null;
}

/** Mistral counts tokens, too, but bills by its whole seconds. */
function readUsage(usage: JsonObject, duration?: unknown): TranscriptionUsage | null {
  const seconds = readTokenCount(usage.prompt_audio_seconds ?? usage.seconds);
  if (seconds !== null) return { kind: 'seconds', seconds };
  const tokens = readTokenCounts(usage.input_tokens, usage.output_tokens);
  if (tokens) return { kind: 'tokens', ...tokens };
  const length = typeof duration === 'number' ? readTokenCount(Math.ceil(duration)) : null;
  return length === null ? null : { kind: 'seconds', seconds: length };
}
