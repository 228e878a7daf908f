import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { writeSrt, writeVtt } from './subtitles.ts';

const segment = fc.record({
  start: fc.double({ min: -1, max: 400_000, noNaN: true }),
  end: fc.double({ min: -1, max: 400_000, noNaN: true }),
  text: fc
    .array(fc.constantFrom('Ruby', ' ', '\n', '\r\r', '-->', '-', '1', '00:00'), { maxLength: 8 })
    .map((parts) => parts.join('')),
});

test('each segment with a text is one cue, whatever it holds', () => {
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
      const said = segments.filter(({ text }) => text.trim() !== '').length;
      const [srt, vtt] = [writeSrt(segments), writeVtt(segments)];
      for (const text of [srt, vtt]) assert.equal(text.split('-->').length - 1, said);
      const cues = srt.split('\n\n').slice(0, -1);
      assert.equal(cues.length, said);
      for (const [index, cue] of cues.entries()) {
        assert.ok(cue.startsWith(`${index + 1}\n`), cue);
        assert.match(cue, /^\d+\n\d{2,}:\d\d:\d\d,\d{3} --> \d{2,}:\d\d:\d\d,\d{3}\n/);
      }
    }),
  );
});
