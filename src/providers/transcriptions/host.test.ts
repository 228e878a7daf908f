// Answers are untrusted: whatever a host sends, its reader gives a transcript that can be charged and
// written, or none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { isObject } from '../../lib/json.ts';
import { readTranscript } from './host.ts';
import { transcriptionHostOf } from './index.ts';

const hosts = {
  openai: {},
  mistral: { lacksFormats: true },
  xai: 'xai',
  elevenlabs: 'elevenlabs',
  deepgram: 'deepgram',
} as const;

const text = fc.constantFrom('Ruby is a gem.', '', '宝石です。');
const junk = fc.constantFrom<unknown>(null, -1, 0.5, 1e308, '', 'x', true, [], {}, [[]], [null]);
const time = fc.oneof({ weight: 4, arbitrary: fc.double({ min: 0, max: 9, noNaN: true }) }, junk);
const either = (good: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: good }, junk);
const word = either(
  fc.record({
    text,
    word: text,
    punctuated_word: either(text),
    start: time,
    end: time,
    speaker: junk,
  }),
);
const words = either(fc.array(word, { maxLength: 4 }));
const segments = either(
  fc.array(either(fc.record({ text: either(text), start: time, end: time, speaker_id: junk }))),
);
const usage = either(
  fc.record({ prompt_audio_seconds: junk, seconds: time, input_tokens: time, output_tokens: junk }),
);
const answer = fc.record({
  text: either(text),
  words,
  segments,
  usage,
  duration: time,
  language_code: junk,
  metadata: either(fc.record({ duration: time })),
  results: either(
    fc.record({
      channels: either(
        fc.array(
          either(
            fc.record({
              detected_language: junk,
              alternatives: either(
                fc.array(either(fc.record({ transcript: either(text), words, languages: junk }))),
              ),
            }),
          ),
        ),
      ),
    }),
  ),
});

test('no answer of a host breaks its reader, or is charged by what is no number', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(hosts)), answer, (transcription, body) => {
      const query = {
        kind: 'openai-compatible',
        upstreamModel: 'm',
        wishes: { transcription },
      } as const;
      const host = transcriptionHostOf(query)!;
      const read = host.read?.(body) ?? body;
      assert.ok(isObject(JSON.parse(JSON.stringify(read))));
      const transcript = readTranscript(read);
      if (!transcript) return;
      const { seconds, tokens, spokenSeconds, segments: told } = transcript;
      const counts = [seconds, spokenSeconds, tokens?.inputTokens, tokens?.outputTokens];
      for (const count of counts)
        assert.ok((count ?? null) === null || Number.isSafeInteger(count));
      for (const { start, end, text: said } of told ?? [])
        assert.ok(Number.isFinite(start) && Number.isFinite(end) && typeof said === 'string');
    }),
    { numRuns: 500 },
  );
});
