// Files are made here by their formats' rules. Lengths that a header claims are checked against the bytes.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { audioTypeOf, mostSeconds, readAudioSeconds } from './audio-seconds.ts';

const fileOf = (bytes: Buffer) => {
  const reads: number[] = [];
  return {
    bytes: bytes.length,
    reads,
    read: async (position: number, length: number) => {
      reads.push(length);
      return bytes.subarray(position, position + length);
    },
  };
};
const secondsOf = (...parts: (Buffer | string)[]) =>
  readAudioSeconds(
    fileOf(Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')))),
  );

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u32le = (value: number) => Buffer.from(u32(value).toReversed());
const u64 = (value: number) => Buffer.concat([u32(Math.floor(value / 2 ** 32)), u32(value >>> 0)]);
const zeros = (length: number) => Buffer.alloc(length);

const wav = (dataSize: number, bytes: number, bytesPerSecond = 48_000) => {
  const list = ['LIST', u32le(3), 'abc', '\0'];
  const format = ['fmt ', u32le(16), zeros(8), u32le(bytesPerSecond), zeros(4)];
  const data = ['data', u32le(dataSize), zeros(bytes)];
  return ['RIFF', u32le(0xffffffff), 'WAVE', ...list, ...format, ...data];
};

const head = ['RIFF', u32le(0xffffffff), 'WAVE'];
/** One channel of this many numbers a second. */
const pcm = (rate: number, bits: number, stated: number) => {
  const format = zeros(16);
  format.writeUInt16LE(1, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(stated, 8);
  format.writeUInt16LE(bits, 14);
  return ['fmt ', u32le(16), format];
};
const data = (bytes: number) => ['data', u32le(bytes), zeros(bytes)];

test('WAV: the data by its bytes a second, whatever a streamed header says', async () => {
  assert.equal(await secondsOf(...wav(96_000, 96_000)), 2);
  assert.equal(await secondsOf(...wav(48_000, 96_000)), 1);
  for (const unknown of [0, 0xffffffff]) assert.equal(await secondsOf(...wav(unknown, 96_000)), 2);
  assert.equal(await secondsOf('RIFF', u32le(8), 'WAVE'), null);
  assert.equal(await secondsOf(...wav(96_000, 96_000, 0)), null);
});

test('WAV: a rate that decoders do not use, a second format and pieces of data do not make it short', async () => {
  const [right, wrong] = [48_000, 0xffffffff].map((stated) => pcm(24_000, 16, stated));
  assert.equal(await secondsOf(...head, ...wrong!, ...data(96_000)), 2);
  assert.equal(await secondsOf(...head, ...right!, ...data(48), ...data(95_952)), 2);
  const junk = 'junk\0\0\0\0'.repeat(200_000);
  assert.equal(await secondsOf(...head, ...right!, ...data(48), junk, ...data(96_000)), null);
  assert.equal(await secondsOf(...head, ...right!, ...wrong!, ...data(96_000)), 2);
});

test('no header makes more than the bytes can hold', async () => {
  // A byte a second would be a day.
  const seconds = await secondsOf(...wav(96_000, 96_000, 1));
  assert.ok(seconds! <= mostSeconds({ bytes: 96_060 }), String(seconds));
  const long = await secondsOf(...m4a({ mvhd: [1_000, 1e9 * 1_000] }));
  assert.equal(long, 1);
});

/** MPEG-2 layer III, 24 kHz, 32 kbit/s, one channel: 96 bytes and 24 ms. */
const frame = Buffer.concat([Buffer.from('fff344c0', 'hex'), zeros(92)]);
const frames = (count: number) => Buffer.concat(Array.from({ length: count }, () => frame));
const tagged = (name: string, count: number) => {
  const first = Buffer.from(frame);
  first.write(name, 13, 'latin1');
  first.writeUInt32BE(1, 17);
  first.writeUInt32BE(count, 21);
  return first;
};
const near = (seconds: number | null, wanted: number) =>
  assert.ok(Math.abs(seconds! - wanted) < 1e-6, `${seconds} for ${wanted}`);

test('MP3: frames are walked, behind a tag and strays, up to a cut one', async () => {
  near(await secondsOf(frames(100)), 2.4);
  near(await secondsOf('ID3\u0004\0\0\0\0\0\u0005', 'title', frames(100)), 2.4);
  near(await secondsOf(frames(50), 'stray', frames(50)), 2.4);
  near(await secondsOf(frames(99), frame.subarray(0, 40)), 2.4);
  assert.equal(await secondsOf('ID3\u0004\0\0\u007f\u007f\u007f\u007f', frames(3)), null);
});

test('WAV: numbers of odd sizes take whole bytes', async () => {
  for (const [bits, bytes] of [
    [12, 2],
    [20, 3],
  ] as const) {
    const format = pcm(8_000, bits, 8_000 * bytes);
    assert.equal(await secondsOf(...head, ...format, ...data(16_000 * bytes)), 2, `${bits} bits`);
  }
});

test('MP3: what follows 64 kB of strays counts like the frames before', async () => {
  assert.ok((await secondsOf(frames(2), zeros(70_000), frames(999)))! >= 24);
});

test('MP3: the number of frames in a tag is not believed', async () => {
  for (const count of [1, 10, 100, 200, 1_000_000])
    near(await secondsOf(tagged('Xing', count), frames(99)), 2.4);
});

const box = (name: string, ...parts: (Buffer | string)[]) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')));
  return Buffer.concat([u32(8 + body.length), Buffer.from(name, 'latin1'), body]);
};
type Times = { mvhd?: [number, number]; mdhd?: [number, number]; mehd?: number };
const m4a = ({ mvhd, mdhd, mehd }: Times) => {
  const times = ([scale, length]: [number, number], name: string) =>
    length >= 2 ** 32
      ? box(name, Buffer.from([1, 0, 0, 0]), zeros(16), u32(scale), u64(length), zeros(16))
      : box(name, zeros(12), u32(scale), u32(length), zeros(16));
  const moov = box(
    'moov',
    ...(mvhd ? [times(mvhd, 'mvhd')] : []),
    ...(mdhd ? [box('trak', box('mdia', times(mdhd, 'mdhd')))] : []),
    ...(mehd === undefined ? [] : [box('mvex', box('mehd', zeros(4), u32(mehd), zeros(40)))]),
  );
  return [box('ftyp', 'M4A \0\0\0\0'), moov];
};

test('MP4: the longest of the whole and its tracks, wherever its header lies', async () => {
  const mdat = box('mdat', zeros(20_000));
  assert.equal(await secondsOf(...m4a({ mvhd: [1_000, 7_500] }), mdat), 7.5);
  const [ftyp, moov] = m4a({ mvhd: [1_000, 7_500], mdhd: [48_000, 384_000] });
  assert.equal(await secondsOf(ftyp!, mdat, moov!), 8);
  const wide = Buffer.concat([u32(1), Buffer.from('mdat'), u64(20_016), zeros(20_000)]);
  assert.equal(await secondsOf(ftyp!, wide, moov!), 8);
  assert.equal(await secondsOf(...m4a({ mvhd: [1_000, 0], mehd: 9_000 }), mdat), 9);
  assert.equal(await secondsOf(...m4a({ mvhd: [0, 7_500] }), mdat), null);
  // A box that ends nowhere.
  assert.equal(await secondsOf(ftyp!, u32(0xffffffff), 'free', zeros(50)), null);
  assert.equal(await secondsOf(ftyp!, u32(0), 'free', zeros(50)), null);
});

const page = (granule: Buffer, body: string | Buffer) =>
  Buffer.concat([Buffer.from('OggS\0\0'), granule, zeros(13), Buffer.from(body as string)]);
const granule = (samples: number) => Buffer.from(u64(samples).toReversed());

test('OGG: the last page on which a packet ends', async () => {
  const opus = Buffer.concat([Buffer.from('OpusHead\u0001\u00018\u0001'), zeros(7)]);
  const first = page(granule(0), opus);
  const none = Buffer.alloc(8, 0xff);
  const last = page(granule(48_000 * 3 + 312), zeros(9_000));
  assert.equal(await secondsOf(first, last), 3);
  assert.equal(await secondsOf(first, last, page(none, 'x')), 3);
  const vorbis = Buffer.concat([Buffer.from('\u0001vorbis'), zeros(5), u32le(44_100), zeros(20)]);
  assert.equal(await secondsOf(page(granule(0), vorbis), page(granule(88_200), zeros(5_000))), 2);
  assert.equal(await secondsOf(page(granule(0), 'other'), last), null);
});

test('FLAC: the samples of its first block; none is unknown', async () => {
  const info = (samples: number) => {
    const bytes = zeros(34);
    bytes.writeUIntBE(44_100 << 4, 10, 3);
    bytes.writeUInt32BE(samples, 14);
    return Buffer.concat([Buffer.from('fLaC'), u32(34), bytes, zeros(9_000)]);
  };
  assert.equal(await secondsOf(info(88_200)), 2);
  assert.equal(await secondsOf(info(0)), null);
  assert.equal(await secondsOf('fLaC'), null);
});

const element = (id: string, body: Buffer) =>
  Buffer.concat([Buffer.from(id, 'hex'), u32(0x10000000 + body.length), body]);

test('WebM: its duration, else the time of its last block', async () => {
  const ebml = element('1a45dfa3', zeros(4));
  const scale = element('2ad7b1', Buffer.from([0x0f, 0x42, 0x40]));
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(5_500);
  const cluster = (ms: number, ...blocks: number[]) => {
    const time = element('e7', Buffer.from([ms >> 8, ms & 255]));
    const heads = blocks.map((at) => Buffer.from([0x81, 0, at, 0]));
    const written = heads.map((one) => element('a3', Buffer.concat([one, zeros(2_000)])));
    return element('1f43b675', Buffer.concat([time, ...written]));
  };
  const timed = element('1549a966', Buffer.concat([scale, element('4489', duration)]));
  const clusters = [cluster(0, 0, 60), cluster(3_000, 0, 200)];
  const segment = element('18538067', Buffer.concat([timed, zeros(9_000)]));
  assert.equal(await secondsOf(ebml, segment), 5.5);
  const untimed = Buffer.concat([element('1549a966', scale), ...clusters]);
  assert.equal(await secondsOf(ebml, element('18538067', untimed)), 3.2);
  // Some writers give every time eight bytes.
  const block = element('a3', Buffer.from([0x81, 0, 60, 0]));
  const wide = element('1f43b675', Buffer.concat([element('e7', u64(7_000)), block]));
  assert.equal(await secondsOf(ebml, element('18538067', Buffer.concat([untimed, wide]))), 7.06);
  // A segment of unknown length, as of a browser's recording.
  assert.equal(await secondsOf(ebml, Buffer.from('1853806701ffffffffffffff', 'hex'), untimed), 3.2);
});

test('a header that understates the length does not make it shorter than the bytes allow', async () => {
  const bytes = 5_760_000;
  const info = zeros(34);
  // Two channels of 44,100 numbers of 16 bits, of which there is said to be one.
  info.writeUIntBE((44_100 << 4) | (1 << 1), 10, 3);
  info[13] = 0xf0;
  info.writeUInt32BE(1, 14);
  const flac = await secondsOf('fLaC', u32(0x8000_0000 + 34), info, zeros(bytes));
  assert.ok(flac! > 29 && flac! < 30, String(flac));
  // A cover is no sound.
  const cover = ['fLaC', u32(34), info, u32(0x8600_0000 + bytes), zeros(bytes)];
  assert.ok((await secondsOf(...cover))! < 0.01);
  const opus = page(granule(0), Buffer.concat([Buffer.from('OpusHead'), zeros(20)]));
  assert.ok((await secondsOf(opus, zeros(bytes), page(granule(1), 'x')))! >= 45);
  const [ftyp, moov] = m4a({ mvhd: [1_000, 1] });
  assert.ok((await secondsOf(ftyp!, moov!, box('mdat', zeros(bytes))))! >= 10);
  const film = box('moov', box('trak', box('mdia', box('hdlr', zeros(8), 'vide', zeros(30)))));
  assert.ok((await secondsOf(ftyp!, moov!, film, box('mdat', zeros(bytes))))! < 1);
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(1);
  const block = Buffer.concat([Buffer.from([0x81, 0x20, 0, 0]), zeros(20_000)]);
  const parts = [element('4489', duration), element('1f43b675', element('a3', block))];
  assert.equal(await secondsOf(element('1a45dfa3', zeros(4)), ...parts), 8.192);
});

test('AAC: frames of 1,024 samples', async () => {
  // 44.1 kHz, 200 bytes.
  const one = Buffer.concat([Buffer.from([0xff, 0xf1, 0x50, 0x80, 25, 0x1f, 0xfc]), zeros(193)]);
  const seconds = await secondsOf(...Array.from({ length: 100 }, () => one));
  assert.ok(Math.abs(seconds! - (100 * 1_024) / 44_100) < 1e-6, String(seconds));
});

test('the media type is that of the bytes', () => {
  const types: readonly (readonly [head: string, type: string])[] = [
    ['RIFF\xff\xff\xff\xffWAVE', 'wav'],
    ['\0\0\0\x18ftypM4A ', 'mp4'],
    ['OggS', 'ogg'],
    ['fLaC', 'flac'],
    ['\x1aE\xdf\xa3', 'webm'],
    ['\xff\xf1\x50\x80\x01\x1f\xfc', 'aac'],
    ['\xff\xfb\x90\x64\0\0\0', 'mp3'],
    ['ID3', 'mp3'],
    ['', 'mp3'],
  ];
  for (const [start, type] of types)
    assert.equal(audioTypeOf(Buffer.from(start, 'latin1')), `audio/${type}`);
});

test('hostile bytes end soon, with few reads', async () => {
  const hostile = [
    Buffer.alloc(3_000_000, 0xff),
    Buffer.alloc(3_000_000),
    Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(3_000_000)]),
    Buffer.concat([...m4a({}), Buffer.concat(Array.from({ length: 300_000 }, () => box('moov')))]),
    Buffer.concat([Buffer.from('1a45dfa380', 'hex'), Buffer.alloc(3_000_000, 0x81)]),
    Buffer.concat([Buffer.from('OggS'), Buffer.alloc(3_000_000, 1)]),
  ];
  for (const bytes of hostile) {
    const file = fileOf(bytes);
    const seconds = await readAudioSeconds(file);
    assert.ok(seconds === null || seconds <= mostSeconds(file));
    assert.ok(file.reads.length < 200, String(file.reads.length));
  }
});

test('a file of strays with a frame here and there is not read to its end', async () => {
  const spaced = Buffer.concat([Buffer.from('fff1500000e0fc', 'hex'), zeros(60_000)]);
  const file = fileOf(Buffer.concat(Array.from({ length: 50 }, () => spaced)));
  assert.ok((await readAudioSeconds(file))! > 0);
  assert.ok(file.reads.length < 10, String(file.reads.length));
});

const recorded = join(
  import.meta.dirname,
  '../../../shared/recordings/endpoints/uploads/dd38e82b1e32.wav',
);

test('the recorded file, which all hosts took for 3.7 seconds', async (t) => {
  if (!existsSync(recorded)) return t.skip('no recordings');
  assert.equal(await readAudioSeconds(fileOf(readFileSync(recorded))), 3.7);
});
