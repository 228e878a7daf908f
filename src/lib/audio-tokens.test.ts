// What hosts count of audio, whatever its header says, is within the estimate.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { mostSeconds } from './audio-seconds.ts';
import { estimateInputTokens } from './tokens.ts';

/** The tokens that a vendor counts for a length. Unknown ones may round up to 30 seconds. */
const hostTokens = {
  openai: (seconds: number) => Math.ceil(seconds * 10),
  google: (seconds: number) => Math.ceil(seconds * 32),
  unknown: (seconds: number) => Math.ceil(seconds / 30) * 30 * 32,
} as const;
const vendors = fc.constantFrom('openai', 'google', 'unknown');

const number = (max: number) => fc.integer({ min: 0, max });
const junk = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes.map((byte) => byte & 0x7f)));

/** At least so many bytes are a second of what is worth serving. */
const mostSecondBytes = 1_000;

/** PCM, of which only the sizes and the rate may lie: a decoder needs the rest. */
const wav = fc
  .record({
    sampleRate: fc.constantFrom(8_000, 16_000, 44_100),
    channels: fc.constantFrom(1, 2),
    seconds: fc.double({ min: 0.1, max: 90, noNaN: true }),
    lies: fc.array(number(0xffffffff), { minLength: 3, maxLength: 3 }),
    rateLies: fc.boolean(),
  })
  .map(({ sampleRate, channels, seconds, lies, rateLies }) => {
    const rate = sampleRate * channels * 2;
    const head = Buffer.alloc(44);
    head.write('RIFF\0\0\0\0WAVEfmt ', 'latin1');
    head.writeUInt32LE(lies[0]!, 4);
    head.writeUInt32LE(16, 16);
    head.writeUInt16LE(1, 20);
    head.writeUInt16LE(channels, 22);
    head.writeUInt32LE(sampleRate, 24);
    // A lower one makes the sound longer than it is.
    head.writeUInt32LE(rateLies ? Math.max(lies[1]!, mostSecondBytes) : rate, 28);
    head.writeUInt16LE(channels * 2, 32);
    head.writeUInt16LE(16, 34);
    head.write('data', 36, 'latin1');
    head.writeUInt32LE(lies[2]!, 40);
    const data = Buffer.alloc(Math.round(seconds * rate));
    return { bytes: Buffer.concat([head, data]), seconds: data.length / rate };
  });

/** Frames of 26 to 36 ms, with a tag that names any number of them, and bytes between them. */
const mp3 = fc
  .record({
    frames: fc.integer({ min: 2, max: 2_000 }),
    claimed: number(0xffffffff),
    hasTag: fc.boolean(),
    between: junk(40),
    before: junk(30),
  })
  .map(({ frames, claimed, hasTag, between, before }) => {
    // MPEG-1 layer III, 32 kbit/s at 44.1 kHz.
    const frame = Buffer.alloc(104);
    frame.writeUInt32BE(0xfffb1000);
    const first = Buffer.from(frame);
    if (hasTag) {
      first.write('Xing', 36, 'latin1');
      first.writeUInt32BE(1, 40);
      first.writeUInt32BE(claimed, 44);
    }
    const all = Array.from({ length: frames - 1 }, () => Buffer.concat([frame, between]));
    const isPlain = before.length + between.length === 0;
    const bytes = Buffer.concat([before, first, ...all]);
    return { bytes, seconds: (frames * 1_152) / 44_100, isPlain };
  });

/** Its header says any number of samples; the bytes bound what there is. */
const flac = fc
  .record({ data: fc.uint8Array({ minLength: 300, maxLength: 50_000 }), lie: number(0xffffffff) })
  .map(({ data, lie }) => {
    const bytes = Buffer.concat([Buffer.from('fLaC\0\0\0\x22', 'latin1'), Buffer.from(data)]);
    bytes.writeUInt32BE(lie, 22);
    return { bytes, seconds: mostSeconds({ bytes: bytes.length }) };
  });

const urlOf = (type: string, base64: string) => ({ url: `data:audio/${type};base64,${base64}` });
const parts: Readonly<Record<string, (base64: string) => object>> = {
  'input_audio of Chat': (data) => ({ type: 'input_audio', input_audio: { data, format: 'wav' } }),
  'audio_url of other hosts': (data) => ({ type: 'audio_url', audio_url: urlOf('wav', data) }),
  'inlineData of Gemini': (data) => ({ inlineData: { mimeType: 'audio/mp3', data } }),
  'an image of Chat': (data) => ({ type: 'image_url', image_url: urlOf('mpeg', data) }),
  'an image of Messages': (data) => ({
    type: 'image',
    source: { type: 'base64', media_type: 'audio/mpeg', data },
  }),
  'a file of that type': (data) => ({ type: 'file', file: { file_data: urlOf('mpeg', data).url } }),
};

for (const [name, partOf] of Object.entries(parts)) {
  test(`the hold of ${name} covers what a host counts, whatever the header says`, () => {
    fc.assert(
      fc.property(fc.oneof(wav, mp3, flac), vendors, ({ bytes, seconds }, vendor) => {
        const messages = [{ role: 'user', content: [partOf(bytes.toString('base64'))] }];
        const options = { imageVendor: vendor };
        const { upper, most, audio } = estimateInputTokens({ messages }, options);
        const counted = hostTokens[vendor](seconds);
        assert.ok(audio.upper >= counted, `${audio.upper} of ${seconds} seconds`);
        assert.ok(upper > audio.upper && most >= audio.most && audio.most >= audio.upper);
        assert.ok(audio.likely <= audio.upper);
        const bytesMost = (mostSeconds({ bytes: bytes.length }) + 30) * 33;
        assert.ok(upper <= bytesMost + 200, `${upper} of ${bytes.length} bytes`);
      }),
      { numRuns: 100 },
    );
  });

  test(`honest audio in ${name} holds its own length only`, () => {
    const short = mp3.filter(({ seconds, isPlain }) => isPlain && seconds > 20 && seconds < 30);
    const [one] = fc.sample(short, { numRuns: 1, seed: 1 });
    const { upper } = estimateInputTokens(partOf(one!.bytes.toString('base64')));
    assert.ok(upper < 33 * 30 + 200, String(upper));
  });

  test(`what may be a film in ${name} holds the whole context`, () => {
    for (const text of ['\0\0\0\x20ftypisom', '\x1aE\xdf\xa3', 'RIFF\0\0\0\0AVI ', 'no audio']) {
      const bytes = Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(300)]);
      const { upper } = estimateInputTokens(partOf(bytes.toString('base64')));
      assert.ok(upper > 100_000_000, text);
    }
  });
}

test('PCM of 24 bits, as recorders write it, holds its own length only', () => {
  const input_audio = { data: base64Of([extensiblePcm(20)]), format: 'wav' };
  const { upper } = estimateInputTokens({ type: 'input_audio', input_audio });
  assert.ok(upper < 33 * 30 + 200, String(upper));
});

test('audio beside other media holds the whole context', () => {
  const data = Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(400)]).toString('base64');
  const url = `data:audio/flac;base64,${data}`;
  for (const part of [
    { type: 'input_audio', input_audio: { data }, audio_url: { url } },
    { type: 'video_url', video_url: { url } },
    { type: 'audio_url', audio_url: { url: url.replace('audio/', 'video/') } },
    { type: 'audio_url', audio_url: { url: 'https://sounds.example/a.wav' } },
  ])
    assert.ok(estimateInputTokens(part).upper > 100_000_000, JSON.stringify(part).slice(0, 60));
});

const inAac = Buffer.concat([Buffer.from('fff15080b51ffc', 'hex'), ...smallFrames(20)]);
/** A decoder may get even more from these than is held, and it is charged. */
const isOpen = true;
/** Files that may be longer than their headers say. */
const crafted: readonly (readonly [
  what: string,
  format: string,
  pieces: readonly Buffer[] | string,
  seconds: number,
  isOpen?: true,
])[] = [
  [
    'a tag that covers the sound',
    'mp3',
    [tagOf(72 * 1_000), ...smallFrames(1_000), ...smallFrames(2)],
    72,
  ],
  [
    'a file of another kind with frames by chance',
    'm4a',
    [Buffer.from('\0\0\0\x20ftypM4A ', 'latin1'), ...withChanceFrames(100)],
    100_000,
  ],
  ['a small file of that kind', 'm4a', withChanceFrames(2), 100_000],
  [
    'sound behind a padding character, which some decoders skip',
    'wav',
    base64Of([pcm({ blockBytes: 2 })]).replace(/^.{80}/, '$&='),
    10,
  ],
  ['PCM that a decoder reads by its blocks', 'wav', [pcm({ blockBytes: 1 })], 20],
  ['PCM at 100 bytes a second', 'wav', [pcm({ blockBytes: 1, rate: 100, bits: 8 })], 1_600],
  [
    'MP3 that begins like WAV',
    'mp3',
    [pcm({ blockBytes: 2, rate: 192_000 }), ...smallFrames(1_000)],
    72,
    isOpen,
  ],
  ['MP3 within AAC', 'mp3', Array.from({ length: 20 }, () => inAac), 0.4, isOpen],
];
for (const [what, format, pieces, seconds, mayBeMore] of crafted)
  test(`the hold covers ${what}`, () => {
    const data = typeof pieces === 'string' ? pieces : base64Of(pieces);
    const part = { type: 'input_audio', input_audio: { data, format } };
    const { audio } = estimateInputTokens(part, { imageVendor: 'openai' });
    assert.ok(audio.upper >= 10 * seconds, `${audio.upper}`);
    if (mayBeMore) assert.ok(audio.most > 100_000_000, `${audio.most}`);
  });

test('only the declared type tells how the bytes are read', () => {
  const data = base64Of([pcm({ blockBytes: 2 })]);
  const most = (part: object) => estimateInputTokens(part).audio.most;
  const sound = (format: string, more: object = {}) => ({
    type: 'input_audio',
    input_audio: { data, format },
    ...more,
  });
  const file = (type: string) => ({ type: 'file', file: { file_data: `${type};base64,${data}` } });
  for (const part of [sound('wav'), file('data:audio/x-wav'), file('data:Audio/WAV;rate=8000')])
    assert.ok(most(part) < 10_000, JSON.stringify(part).slice(0, 80));
  const nested = sound('mp3', { other: { format: 'wav' } });
  for (const part of [nested, file('data:audio/mp3;a=audio/wav')])
    assert.ok(most(part) > 100_000_000, JSON.stringify(part).slice(0, 80));
});

/** MPEG-2.5 at 8 kbit/s: 72 bytes of 72 ms. */
function smallFrames(count: number): readonly Buffer[] {
  const frame = Buffer.alloc(72);
  frame.writeUInt32BE(0xffe318c4);
  return Array.from({ length: count }, () => frame);
}

/** A version that decoders do not know, so they look for frames in it. */
function tagOf(bytes: number): Buffer {
  return Buffer.concat([
    Buffer.from('ID3\xff\xff\0', 'latin1'),
    Buffer.from([21, 14, 7, 0].map((shift) => (bytes >> shift) & 127)),
  ]);
}

function withChanceFrames(count: number): readonly Buffer[] {
  const [frame] = smallFrames(1);
  return Array.from({ length: count }, () => Buffer.concat([frame!, Buffer.alloc(16_000, 1)]));
}

type Pcm = { readonly blockBytes: number; readonly rate?: number; readonly bits?: number };

/** 160,000 bytes of mono. */
function pcm({ blockBytes, rate = 8_000, bits = 16 }: Pcm): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0', 'latin1');
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE((rate * bits) / 8, 28);
  head.writeUInt16LE(blockBytes, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36, 'latin1');
  return Buffer.concat([head, Buffer.alloc(160_000)]);
}

/** 48,000 samples of 3 bytes a second. */
function extensiblePcm(seconds: number): Buffer {
  const head = Buffer.alloc(68);
  head.write('RIFF\0\0\0\0WAVEfmt \x28\0\0\0\xfe\xff\x01\0', 'latin1');
  head.writeUInt32LE(48_000, 24);
  head.writeUInt32LE(144_000, 28);
  head.writeUInt16LE(3, 32);
  head.writeUInt16LE(24, 34);
  head.writeUInt16LE(1, 44);
  head.write('data', 60, 'latin1');
  return Buffer.concat([head, Buffer.alloc(144_000 * seconds)]);
}

function base64Of(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString('base64');
}

test('what a document by address holds may be sound', () => {
  const part = { fileData: { mimeType: 'application/pdf', fileUri: 'https://files.example/a' } };
  assert.ok(estimateInputTokens(part).audio.most > 100_000_000);
});

test('the search for frames ends in a file that has few of them', () => {
  const block = Buffer.concat([Buffer.alloc(60_000, 0xff), ...smallFrames(1)]);
  const data = base64Of(Array.from({ length: 100 }, () => block));
  const part = { type: 'input_audio', input_audio: { data, format: 'mp3' } };
  assert.ok(estimateInputTokens(part).upper > 100_000_000);
});
