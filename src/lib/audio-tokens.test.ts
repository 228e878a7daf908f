// What hosts count of audio, whatever its header says, is within the estimate.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { mostSeconds } from './audio-seconds.ts';
import { estimateInputTokens } from './tokens.ts';

/** What a vendor counts of so many seconds. Others may count pieces of 30 seconds in full. */
const hostTokens = {
  openai: (seconds: number) => Math.ceil(seconds * 10),
  google: (seconds: number) => Math.ceil(seconds * 32),
  unknown: (seconds: number) => Math.ceil(seconds / 30) * 30 * 32,
} as const;
const vendors = fc.constantFrom('openai', 'google', 'unknown');

const number = (max: number) => fc.integer({ min: 0, max });
const junk = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes.map((byte) => byte & 0x7f)));

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
    head.writeUInt32LE(rateLies ? lies[1]! : rate, 28);
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
    return { bytes: Buffer.concat([before, first, ...all]), seconds: (frames * 1_152) / 44_100 };
  });

/** Its header says any number of samples; the bytes bound what there is. */
const flac = fc
  .record({ data: fc.uint8Array({ minLength: 300, maxLength: 50_000 }), lie: number(0xffffffff) })
  .map(({ data, lie }) => {
    const bytes = Buffer.concat([Buffer.from('fLaC\0\0\0\x22', 'latin1'), Buffer.from(data)]);
    bytes.writeUInt32BE(lie, 22);
    return { bytes, seconds: mostSeconds({ bytes: bytes.length }) };
  });

const parts: Readonly<Record<string, (base64: string) => object>> = {
  'input_audio of Chat': (data) => ({ type: 'input_audio', input_audio: { data, format: 'wav' } }),
  'audio_url of other hosts': (data) => ({
    type: 'audio_url',
    audio_url: { url: `data:audio/wav;base64,${data}` },
  }),
  'inlineData of Gemini': (data) => ({ inlineData: { mimeType: 'audio/mp3', data } }),
  'a file of that type': (data) => ({
    type: 'file',
    file: { file_data: `data:audio/mpeg;base64,${data}` },
  }),
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
    const [one] = fc.sample(
      mp3.filter(({ seconds }) => seconds > 20 && seconds < 30),
      { numRuns: 1, seed: 1 },
    );
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
