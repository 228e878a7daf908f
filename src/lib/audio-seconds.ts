// Reads how long audio is from the file's own header, without decoding. Lengths in a file are untrusted:
// each loop is bounded, and the result never exceeds what the bytes can hold.

export type AudioFile = {
  readonly bytes: number;
  /** Returns fewer bytes at the end of the file. */
  readonly read: (position: number, length: number) => Promise<Buffer>;
};

/** 8 kbit/s, the lowest bit rate worth serving. */
export const leastBytesPerSecond = 1_000;
const stepsMax = 200_000;
const windowBytes = 64 * 1024;

/** Returns null when the file does not say it. */
export async function readAudioSeconds(file: AudioFile): Promise<number | null> {
  const reader = new Window(file);
  const head = await reader.at(0, 12);
  const [first, second] = [head.toString('latin1', 0, 4), head.toString('latin1', 8, 12)];
  let seconds: number | null = null;
  if (['RIFF', 'RF64', 'BW64'].includes(first) && second === 'WAVE') seconds = await wav(reader);
  else if (head.toString('latin1', 4, 8) === 'ftyp') seconds = await mp4(reader);
  else if (first === 'OggS') seconds = await ogg(reader);
  else if (first === 'fLaC') seconds = await flac(reader);
  else if (head.length >= 4 && head.readUInt32BE(0) === 0x1a45dfa3) seconds = await webm(reader);
  else seconds = await mpeg(reader, head);
  return seconds !== null && Number.isFinite(seconds) && seconds > 0
    ? Math.min(seconds, mostSeconds(file))
    : null;
}

/** Returns the media type by the first 12 bytes. What is none of the others counts as MP3. */
export function audioTypeOf(head: Buffer): string {
  const [first, second] = [head.toString('latin1', 0, 4), head.toString('latin1', 4, 8)];
  if (['RIFF', 'RF64', 'BW64'].includes(first)) return 'audio/wav';
  if (second === 'ftyp') return 'audio/mp4';
  if (first === 'OggS') return 'audio/ogg';
  if (first === 'fLaC') return 'audio/flac';
  if (first === '\x1aE\xdf\xa3') return 'audio/webm';
  return head.length >= 4 && adtsFrame(head) ? 'audio/aac' : 'audio/mp3';
}

/** The most that a file of this length can have. */
export function mostSeconds({ bytes }: Pick<AudioFile, 'bytes'>): number {
  return Math.max(bytes / leastBytesPerSecond, 1);
}

/** Reads neighbouring places of a file at once. */
class Window {
  readonly bytes: number;
  readonly #file: AudioFile;
  #start = 0;
  #window: Buffer = Buffer.alloc(0);

  constructor(file: AudioFile) {
    this.bytes = file.bytes;
    this.#file = file;
  }

  /** `length`: at most 64 KB. */
  async at(position: number, length: number): Promise<Buffer> {
    const end = Math.min(position + length, this.bytes);
    if (position < this.#start || end > this.#start + this.#window.length) {
      this.#window = await this.#file.read(position, windowBytes);
      this.#start = position;
    }
    return this.#window.subarray(position - this.#start, Math.max(end - this.#start, 0));
  }
}

/** Streamed files have 0 or 0xFFFFFFFF for a length that was not known. Decoders join pieces of data. */
async function wav(reader: Window): Promise<number | null> {
  let bytesPerSecond = Infinity;
  let bytes = 0;
  let step = 0;
  for (let position = 12; step < stepsMax; step++) {
    const chunk = await reader.at(position, 24);
    if (chunk.length < 8) break;
    const [name, size] = [chunk.toString('latin1', 0, 4), chunk.readUInt32LE(4)];
    const left = reader.bytes - position - 8;
    if (name === 'fmt ' && chunk.length >= 24)
      bytesPerSecond = Math.min(bytesPerSecond, rateOf(chunk));
    if (name === 'data') bytes += size === 0 ? left : Math.min(size, left);
    if (name === 'data' && size === 0) break;
    position += 8 + size + (size % 2);
  }
  return step === stepsMax ? null : bytes / bytesPerSecond;
}

/** Decoders may use the parts, in whole bytes, or the stated rate. The lower one counts. */
function rateOf(format: Buffer): number {
  const bits = format.readUInt16LE(22);
  const frameBits = format.readUInt16LE(10) * (bits > 8 ? 8 * Math.ceil(bits / 8) : bits);
  const rates = [(format.readUInt32LE(12) * frameBits) / 8, format.readUInt32LE(16)];
  return Math.min(...rates.filter((rate) => rate > 0));
}

async function flac(reader: Window): Promise<number | null> {
  const info = await reader.at(0, 26);
  if (info.length < 26) return null;
  const rate = info.readUIntBE(18, 3) >> 4;
  const samples = (info[21]! & 0x0f) * 2 ** 32 + info.readUInt32BE(22);
  if (rate === 0 || samples === 0) return null;
  const channels = ((info[20]! >> 1) & 7) + 1;
  const bits = ((info[20]! & 1) << 4) + (info[21]! >> 4) + 1;
  let start = 4;
  for (let step = 0; step < stepsMax; step++) {
    const block = await reader.at(start, 4);
    if (block.length < 4) break;
    start += 4 + block.readUIntBE(1, 3);
    if (block[0]! >= 0x80) break;
  }
  // Frames take little more than the numbers that they hold.
  const least = (reader.bytes - start) / (1.1 * rate * channels * Math.ceil(bits / 8));
  return Math.max(samples / rate, least);
}

async function ogg(reader: Window): Promise<number | null> {
  const head = await reader.at(0, 128);
  const opus = head.indexOf('OpusHead');
  const vorbis = head.indexOf('\u0001vorbis');
  if (opus < 0 && vorbis < 0) return null;
  if (head.length < Math.max(opus, vorbis) + 16) return null;
  const skipped = opus < 0 ? 0 : head.readUInt16LE(opus + 10);
  const rate = opus < 0 ? head.readUInt32LE(vorbis + 12) : 48_000;
  const tail = await reader.at(Math.max(reader.bytes - windowBytes, 0), windowBytes);
  for (let at = tail.lastIndexOf('OggS'); at >= 0; at = tail.lastIndexOf('OggS', at - 1)) {
    const samples = at + 14 <= tail.length ? tail.readBigUInt64LE(at + 6) : none;
    if (samples !== none && rate === 0) return null;
    const least = reader.bytes / lossyBytesPerSecond;
    if (samples !== none) return Math.max((Number(samples) - skipped) / rate, least);
    if (at === 0) break;
  }
  return null;
}

/** Twice the highest bit rate of Opus, for files with several channels. */
const lossyBytesPerSecond = 128_000;
/** Lossless audio in two channels of 96,000 numbers of 24 bits. */
const losslessBytesPerSecond = 576_000;

/** A page on which no packet ends. */
const none = 0xffff_ffff_ffff_ffffn;

/** Boxes within which the length may be. */
const containers = new Set(['moov', 'trak', 'mdia', 'mvex']);

/** The longest of the whole and its tracks. `moov` may come last. */
async function mp4(reader: Window): Promise<number | null> {
  let longest = 0;
  let wholeScale = 0;
  let dataBytes = 0;
  let isAudio = true;
  for (let position = 0, step = 0; step < stepsMax; step++) {
    const box = await reader.at(position, 48);
    if (box.length < 8) break;
    const name = box.toString('latin1', 4, 8);
    const isLong = box.readUInt32BE(0) === 1 && box.length >= 16;
    const size = isLong ? Number(box.readBigUInt64BE(8)) : box.readUInt32BE(0);
    const headBytes = isLong ? 16 : 8;
    const body = box.subarray(headBytes);
    if ((name === 'mvhd' || name === 'mdhd') && body.length >= 32) {
      const isWide = body[0] === 1;
      const scale = body.readUInt32BE(isWide ? 20 : 12);
      const length = isWide ? Number(body.readBigUInt64BE(24)) : body.readUInt32BE(16);
      if (name === 'mvhd') wholeScale = scale;
      // All ones: not known.
      const isKnown = scale > 0 && (isWide || length !== 0xffffffff);
      if (isKnown) longest = Math.max(longest, length / scale);
    }
    if (name === 'mehd' && body.length >= 12 && wholeScale > 0) {
      const length = body[0] === 1 ? Number(body.readBigUInt64BE(4)) : body.readUInt32BE(4);
      longest = Math.max(longest, length / wholeScale);
    }
    if (name === 'mdat') dataBytes += Math.min(size || Infinity, reader.bytes - position);
    if (name === 'hdlr' && body.toString('latin1', 8, 12) === 'vide') isAudio = false;
    if (containers.has(name)) position += headBytes;
    else if (size < headBytes) break;
    else position += size;
  }
  // Pictures take more bytes than sound, so they tell nothing of the time.
  return longest > 0 && isAudio ? Math.max(longest, dataBytes / losslessBytesPerSecond) : longest;
}

const ids = { segment: 0x18538067, info: 0x1549a966, cluster: 0x1f43b675, group: 0xa0 } as const;
const entered = new Set<number>(Object.values(ids));

/** The stated duration or the last block's time, whichever is longer. Recordings of browsers state none. */
async function webm(reader: Window): Promise<number | null> {
  let nanosPerTick = 1_000_000;
  let clusterTicks = 0;
  let lastTicks = 0;
  let statedTicks = 0;
  for (let position = 0, step = 0; step < stepsMax && position < reader.bytes; step++) {
    const element = await reader.at(position, 24);
    const id = readVint(element, 0, true);
    const size = id && readVint(element, id.bytes, false);
    if (!id || !size) break;
    position += id.bytes + size.bytes;
    const body = element.subarray(id.bytes + size.bytes);
    if (id.value === 0x2ad7b1) nanosPerTick = readUint(body, size.value) || nanosPerTick;
    if (id.value === 0x4489 && body.length >= 8) {
      statedTicks = size.value === 4 ? body.readFloatBE(0) : body.readDoubleBE(0);
    }
    if (id.value === 0xe7) clusterTicks = readUint(body, size.value);
    const isBlock = id.value === 0xa3 || id.value === 0xa1;
    if (isBlock && body.length >= 3)
      lastTicks = Math.max(lastTicks, clusterTicks + body.readInt16BE(1));
    if (!entered.has(id.value)) position += size.value;
  }
  return (Math.max(lastTicks, statedTicks || 0) * nanosPerTick) / 1e9;
}

/** Up to eight bytes. */
function readUint(body: Buffer, bytes: number): number {
  const digits = bytes <= 8 && body.length >= bytes ? body.toString('hex', 0, bytes) : '';
  return Number(`0x0${digits}`);
}

/** A number of EBML: its first one bit says how long it is. */
function readVint(bytes: Buffer, at: number, keepsMark: boolean) {
  const first = bytes[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (length > 8 || at + length > bytes.length) return null;
  let value = keepsMark ? first : first & (0xff >> length);
  for (let index = 1; index < length; index++) value = value * 256 + bytes[at + index]!;
  return { value, bytes: length };
}

type MpegFrame = { readonly bytes: number; readonly samples: number; readonly rate: number };

/** MP3 and ADTS. Frames are walked, because the number in a tag may lie. */
async function mpeg(reader: Window, head: Buffer): Promise<number | null> {
  let position = id3TagBytes(head);
  let seconds = 0;
  let frames = 0;
  let framesBytes = 0;
  let strays = 0;
  // Each step but a stray takes at least 7 bytes.
  while (position + 4 <= reader.bytes && strays < windowBytes) {
    const header = await reader.at(position, 8);
    const frame = mp3Frame(header) ?? adtsFrame(header);
    if (frame) {
      seconds += frame.samples / frame.rate;
      frames += 1;
      framesBytes += frame.bytes;
    } else strays += 1;
    position += frame?.bytes ?? 1;
  }
  if (frames < 2) return null;
  // The part that was not read is taken to have as many seconds for its bytes.
  return strays < windowBytes ? seconds : seconds * (reader.bytes / framesBytes);
}

/** Returns the stated length of an ID3 tag before the sound; 0 when there is none. */
export function id3TagBytes(file: Buffer): number {
  if (file.toString('latin1', 0, 3) !== 'ID3' || file.length < 10) return 0;
  const [a, b, c, d] = file.subarray(6, 10);
  return 10 + a! * 2 ** 21 + b! * 2 ** 14 + c! * 2 ** 7 + d! + (file[5]! & 0x10 ? 10 : 0);
}

const kilobits = {
  v1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  v2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

/** Layer III only. */
export function mp3Frame(bytes: Buffer, at = 0): MpegFrame | null {
  const [second, third] = [bytes[at + 1]!, bytes[at + 2]!];
  if (at + 4 > bytes.length || bytes[at] !== 0xff || (second & 0xe6) !== 0xe2) return null;
  const version = (second >> 3) & 3;
  const isMpeg1 = version === 3;
  const bits = kilobits[isMpeg1 ? 'v1' : 'v2'][third >> 4];
  const rateIndex = (third >> 2) & 3;
  if (version === 1 || !bits || rateIndex === 3) return null;
  const rate = [44_100, 48_000, 32_000][rateIndex]! / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const samples = isMpeg1 ? 1_152 : 576;
  const padding = (third >> 1) & 1;
  return { bytes: Math.floor((samples / 8) * ((bits * 1_000) / rate)) + padding, samples, rate };
}

const adtsRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
];

export function adtsFrame(file: Buffer, at = 0): MpegFrame | null {
  if (at + 7 > file.length || file[at] !== 0xff || (file[at + 1]! & 0xf6) !== 0xf0) return null;
  const rate = adtsRates[(file[at + 2]! >> 2) & 15];
  const bytes = ((file[at + 3]! & 3) << 11) | (file[at + 4]! << 3) | (file[at + 5]! >> 5);
  return rate === undefined || bytes < 7 ? null : { bytes, samples: 1_024, rate };
}
