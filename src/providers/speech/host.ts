// The interface of a host of speech models: what one call looks like, and what its answer says. Pure:
// the gateway does the HTTP.
import type { TokenCounts } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { SpeechFormat } from '../../terms/speech.ts';
import type { ProviderPlace, TaskAddress } from '../provider.ts';

export type SpeechJob = {
  readonly upstreamModel: string;
  readonly place: ProviderPlace;
  readonly input: string;
  readonly voice: string;
  readonly instructions: string | null;
  /** One of the host's. */
  readonly format: SpeechFormat;
  readonly speed: number | null;
  /** The provider bills tokens, so its count is needed. */
  readonly isByTokens: boolean;
};

type SpeechCall = TaskAddress & {
  readonly body: JsonObject;
  /** `bytes`: the audio itself. `events`: server-sent events with pieces of it. */
  readonly answer: 'bytes' | 'events' | 'json';
};

/** A whole answer, or an event of a stream. */
export type SpeechPiece = {
  /** Left out: none. */
  readonly audio?: Buffer;
  /** null: the host counts none; left out: not yet. */
  readonly count?: TokenCounts | null;
};

export type SpeechHost = {
  /** The formats that it makes, its usual one first. */
  readonly formats: readonly SpeechFormat[];
  /** Fields of our API that it has no word for. */
  readonly ignores: readonly ('instructions' | 'speed')[];
  readonly write: (job: SpeechJob) => SpeechCall;
  /** Reads a whole answer, or one event. Returns null when it is none. */
  readonly read: (body: JsonObject, job: SpeechJob) => SpeechPiece | null;
};

/** Returns null for what is no base64. */
export function readBase64(value: unknown): Buffer | null {
  if (typeof value !== 'string' || value === '') return null;
  const bytes = Buffer.from(value, 'base64');
  return bytes.length >= Math.floor((value.length * 3) / 4) - 2 ? bytes : null;
}
