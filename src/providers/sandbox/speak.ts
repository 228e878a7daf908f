// The sandbox as a speech model: a short tone for each character, the same every time.
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import { brokenStream } from '../../formats/stream-progress.ts';
import { tokensFromBytes, utf8Length } from '../../lib/tokens-from-bytes.ts';
import type { SpeechFormat } from '../../terms/speech.ts';
import type { SpeechPiece } from '../speech/host.ts';
import { wavHeader } from '../speech/wav.ts';
import { numberReader } from './directive-lines.ts';
import { followDirectives, type Playing } from './task-directives.ts';

type SandboxSpeech = Playing & { readonly input: string; readonly format: SpeechFormat };

/** WAV in place of a format that it cannot write. */
export function sandboxFormatOf(format: SpeechFormat): SpeechFormat {
  return format === 'mp3' || format === 'pcm' ? format : 'wav';
}

/** Throws UpstreamBroken. */
export async function* speakInSandbox(speech: SandboxSpeech): AsyncGenerator<SpeechPiece> {
  const { input, format } = speech;
  const { text, directives } = await followDirectives(input, speech, {
    none: { cutAfter: null as number | null },
    readers: { cut_after: numberReader('cutAfter', 0, 1_000) },
  });
  const { cutAfter } = directives;
  const characters = Array.from(text.slice(0, charactersMax));
  for (const audio of speak(characters, format, cutAfter ?? Infinity)) yield { audio };
  if (cutAfter !== null) throw new UpstreamBroken(brokenStream('as was asked for'));
  const inputTokens = tokensFromBytes(utf8Length(input));
  yield { count: { inputTokens, outputTokens: characters.length } };
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
