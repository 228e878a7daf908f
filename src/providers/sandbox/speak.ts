// The sandbox as a speech model: a short tone for each character, the same every time.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Clock } from '../../lib/clock.ts';
import { tokensFromBytes, utf8Length } from '../../lib/tokens-from-bytes.ts';
import type { SpeechFormat } from '../../terms/speech.ts';
import type { SpeechCount } from '../speech/host.ts';
import { wavHeader } from '../speech/wav.ts';
import { numberReader, readDirectiveLines } from './directive-lines.ts';
import { failureWithStatus, refusal } from './failures.ts';

type SandboxSpeech = {
  readonly input: string;
  readonly format: SpeechFormat;
  readonly signal: AbortSignal;
  readonly clock: Clock;
};

type SandboxSpoken =
  | {
      readonly kind: 'spoken';
      readonly pieces: Iterable<Buffer>;
      /** It breaks off after these pieces. */
      readonly isCut: boolean;
      readonly count: SpeechCount;
    }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure };

/** WAV in place of a format that it cannot write. */
export function sandboxFormatOf(format: SpeechFormat): SpeechFormat {
  return format === 'mp3' || format === 'pcm' ? format : 'wav';
}

export async function speakInSandbox(speech: SandboxSpeech): Promise<SandboxSpoken> {
  const { input, format, signal, clock } = speech;
  const read = readDirectiveLines(input, {
    none: { delayMs: 0, status: null as number | null, cutAfter: null as number | null },
    readers: {
      delay_ms: numberReader('delayMs', 0, 600_000),
      status: numberReader('status', 400, 599),
      cut_after: numberReader('cutAfter', 0, 1_000),
    },
  });
  if (read.kind === 'malformed') return { kind: 'failure', failure: refusal(read.message) };
  const { delayMs, status, cutAfter } = read.directives;
  if (delayMs > 0) await clock.sleep(delayMs, signal);
  if (status !== null) return { kind: 'failure', failure: failureWithStatus(status) };
  const characters = Array.from(read.text.slice(0, charactersMax));
  return {
    kind: 'spoken',
    pieces: speak(characters, format, cutAfter ?? Infinity),
    isCut: cutAfter !== null,
    count: { inputTokens: tokensFromBytes(utf8Length(input)), outputTokens: characters.length },
  };
}

/** Of a longer text, only so many are heard. */
const charactersMax = 4_096;
const charactersPerPiece = 20;

function* speak(
  characters: readonly string[],
  format: SpeechFormat,
  piecesMax: number,
): Generator<Buffer> {
  if (format === 'wav' && piecesMax > 0)
    yield wavHeader(characters.length * toneSamples * bytesPerSample, sampleRate);
  const say = format === 'mp3' ? () => silentFrame : toneOf;
  for (let piece = 0; piece < piecesMax; piece++) {
    const start = piece * charactersPerPiece;
    if (start >= characters.length) return;
    yield Buffer.concat(characters.slice(start, start + charactersPerPiece).map(say));
  }
}

const sampleRate = 24_000;
const bytesPerSample = 2;
/** 24 ms, as long as a frame of MP3. */
const toneSamples = 576;
const loudness = 4_000;

function toneOf(character: string): Buffer {
  const hertz = 200 + (character.codePointAt(0)! % 32) * 25;
  const tone = Buffer.alloc(toneSamples * bytesPerSample);
  if (character.trim() === '') return tone;
  for (let sample = 0; sample < toneSamples; sample++) {
    const height = Math.sin((2 * Math.PI * hertz * sample) / sampleRate);
    tone.writeInt16LE(Math.round(loudness * height), sample * bytesPerSample);
  }
  return tone;
}

/** MPEG-2 layer III, 24 kHz, one channel, 32 kbit/s: a header, and no sound. */
const silentFrame = Buffer.concat([Buffer.from('fff344c0', 'hex'), Buffer.alloc(92)]);
