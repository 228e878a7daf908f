// Upper estimate of the input tokens of audio in a request. A header may lie about the length, so only what
// a decoder must read counts: the rate of PCM, and each frame of MP3 and AAC. The bytes bound the length of
// FLAC, OGG and packed WAV.
import { adtsFrame, mostSeconds, mp3Frame } from './audio-seconds.ts';
import type { ImageVendor as Vendor, TokenEstimate } from './image-tokens.ts';

type Rate = { readonly upper: number; readonly likely: number; readonly pieceSeconds: number };

/**
 * Tokens of a second, and the pieces that are counted in full when they have begun.
 * https://ai.google.dev/gemini-api/docs/audio (32), and recorded answers of OpenAI (10), 2026-11-29.
 */
const rates: Readonly<Partial<Record<Vendor, Rate>>> = {
  openai: { upper: 11, likely: 10, pieceSeconds: 1 },
  sandbox: { upper: 11, likely: 10, pieceSeconds: 1 },
  google: { upper: 33, likely: 32, pieceSeconds: 1 },
};
const anyRate: Rate = { upper: 33, likely: 25, pieceSeconds: 30 };

/** `isBound`: no decoder can get more from the file. */
type AudioEstimate = TokenEstimate & { readonly isBound: boolean };

/** Returns null for audio that takes too long to read, and for what may be a film. */
export function estimateAudioTokens(bytes: Buffer, vendor: Vendor): AudioEstimate | null {
  const length = longestSeconds(bytes);
  if (length === null) return null;
  const { seconds, isBound } = length;
  const { upper, likely, pieceSeconds } = rates[vendor] ?? anyRate;
  return {
    upper: Math.ceil(seconds / pieceSeconds) * pieceSeconds * upper,
    likely: Math.ceil(seconds * likely),
    isBound,
  };
}

type Length = { readonly seconds: number; readonly isBound: boolean };

function longestSeconds(bytes: Buffer): Length | null {
  const [first, second] = [bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 12)];
  const packed = { seconds: mostSeconds({ bytes: bytes.length }), isBound: false };
  if (first === 'RIFF' && second === 'WAVE') {
    const seconds = bytes.length / leastRate(bytes);
    return seconds <= packed.seconds ? { seconds, isBound: true } : packed;
  }
  if (first === 'fLaC' || first === 'OggS') return packed;
  const seconds = framedSeconds(bytes);
  return seconds === null ? null : { seconds, isBound: true };
}

const chunksMax = 100;

/**
 * Returns the bytes of a second of PCM; 0 for other codecs. Decoders differ in whether they use the rate
 * that is written or the product of its parts.
 */
function leastRate(wav: Buffer): number {
  let least = Infinity;
  for (let at = 12, step = 0; step < chunksMax && at + 24 <= wav.length; step++) {
    const [name, size] = [wav.toString('latin1', at, at + 4), wav.readUInt32LE(at + 4)];
    if (name === 'data') return least === Infinity ? 0 : least;
    if (name === 'fmt ') {
      const codec = wav.readUInt16LE(at + 8);
      const sampleBytes = (wav.readUInt16LE(at + 10) * wav.readUInt16LE(at + 22)) / 8;
      const rate = Math.min(wav.readUInt32LE(at + 12) * sampleBytes, wav.readUInt32LE(at + 16));
      // 1: whole numbers, 3: floats.
      least = codec === 1 || codec === 3 ? Math.min(least, rate) : 0;
      if (least === 0) return 0;
    }
    at += 8 + size + (size % 2);
  }
  return 0;
}

/** Two hours of MP3. */
const framesMax = 300_000;
const straysMax = 64 * 1024;

function framedSeconds(bytes: Buffer): number | null {
  let at = afterTag(bytes);
  let seconds = 0;
  let frames = 0;
  let strays = 0;
  while (at + 4 <= bytes.length) {
    const head = bytes.subarray(at, at + 8);
    const frame = mp3Frame(head) ?? adtsFrame(head);
    if (frame) {
      seconds += frame.samples / frame.rate;
      frames += 1;
      strays = 0;
    } else strays += 1;
    at += frame?.bytes ?? 1;
    // Anything may come behind it.
    if (frames > framesMax || strays > straysMax) return null;
  }
  return frames < 2 ? null : seconds;
}

function afterTag(bytes: Buffer): number {
  if (bytes.toString('latin1', 0, 3) !== 'ID3' || bytes.length < 10) return 0;
  const [a, b, c, d] = bytes.subarray(6, 10);
  return 10 + a! * 2 ** 21 + b! * 2 ** 14 + c! * 2 ** 7 + d! + (bytes[5]! & 0x10 ? 10 : 0);
}
