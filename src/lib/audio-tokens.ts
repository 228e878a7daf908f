// Upper estimate of the input tokens of audio in a request. A header may lie about the length, so only what
// a decoder must read counts: the rate of PCM, and each frame of MP3 and AAC. The bytes bound the length of
// FLAC, OGG and packed WAV.
import {
  adtsFrame,
  id3TagBytes,
  leastBytesPerSecond,
  mostSeconds,
  mp3Frame,
} from './audio-seconds.ts';
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

/**
 * Returns null for audio that takes too long to read, and for what may be a film. `declared`: its type or
 * format; a host that trusts it may read the bytes in another way than they begin.
 */
export function estimateAudioTokens(
  bytes: Buffer,
  vendor: Vendor,
  declared: string,
): AudioEstimate | null {
  const length = longestSeconds(bytes, declared);
  if (length === null) return null;
  const { seconds, isBound } = length;
  const { upper, likely, pieceSeconds } = rates[vendor] ?? anyRate;
  return {
    upper: Math.ceil(seconds / pieceSeconds) * pieceSeconds * upper,
    likely: Math.ceil(seconds * likely),
    isBound,
  };
}

/** A format, a type, or the head of a data URL. */
const declaresWav = /^\s*(?:data:)?(?:audio\/)?(?:x-|vnd\.)?wave?\s*(?:[;,]|$)/i;
const declaresMp3 = /^\s*(?:data:)?(?:audio\/)?(?:x-)?(?:mp3|mpeg|mpga)\s*(?:[;,]|$)/i;

type Length = { readonly seconds: number; readonly isBound: boolean };

function longestSeconds(bytes: Buffer, declared: string): Length | null {
  const [first, second] = [bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 12)];
  const packed = { seconds: mostSeconds({ bytes: bytes.length }), isBound: false };
  if (first === 'RIFF' && second === 'WAVE') {
    const rate = declaresWav.test(declared) ? leastRate(bytes) : 0;
    return rate === 0 ? packed : { seconds: bytes.length / rate, isBound: true };
  }
  if (first === 'fLaC' || first === 'OggS') return packed;
  const framed = framedSeconds(bytes);
  return framed && { ...framed, isBound: framed.isBound && declaresMp3.test(declared) };
}

const chunksMax = 100;
/** The codec follows in the chunk's end. */
const extensible = 0xfffe;

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
      const stated = wav.readUInt16LE(at + 8);
      const codec = stated === extensible && size >= 40 ? (wav[at + 32] ?? 0) : stated;
      const sampleBytes = (wav.readUInt16LE(at + 10) * wav.readUInt16LE(at + 22)) / 8;
      const blockBytes = Math.min(wav.readUInt16LE(at + 20) || sampleBytes, sampleBytes);
      const rate = Math.min(wav.readUInt32LE(at + 12) * blockBytes, wav.readUInt32LE(at + 16));
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
/** Text in tags, but no picture. */
const boundStraysMax = 4 * 1024;

/**
 * Returns null when frames are not most of the file: chance makes some in any other. A tag is searched too,
 * because its length may lie.
 */
function framedSeconds(bytes: Buffer): Length | null {
  const tagBytes = id3TagBytes(bytes);
  const found = new Set<number>();
  let seconds = 0;
  let frames = 0;
  let framed = 0;
  let tagged = 0;
  let strays = 0;
  for (let at = 0; at + 4 <= bytes.length;) {
    const mp3 = mp3Frame(bytes, at);
    const frame = mp3 ?? adtsFrame(bytes, at);
    if (frame) {
      seconds += frame.samples / frame.rate;
      frames += 1;
      framed += frame.bytes;
      found.add(mp3 ? frame.rate : 0);
    } else if (at < tagBytes) tagged += 1;
    else strays += 1;
    at += frame?.bytes ?? 1;
    if (frames > framesMax || strays > straysMax + framed) return null;
  }
  if (frames < 2 || strays > framed) return null;
  return {
    seconds: seconds + strays / leastBytesPerSecond,
    isBound: found.size === 1 && !found.has(0) && strays + tagged <= boundStraysMax,
  };
}
