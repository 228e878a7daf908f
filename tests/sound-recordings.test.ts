// Recorded answers of real hosts to sound: their counts of it, and the hold for the sound that was sent.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { totalAudioTokens } from '../src/canonical/usage.ts';
import { upstreamFormats } from '../src/formats/registry.ts';
import { estimateInputTokens } from '../src/lib/tokens.ts';
import { loadCloudAnswers } from './support/cloud-recordings.ts';
import { loadRecordings } from './support/recordings.ts';

const counts = /"modality":\s*"AUDIO",\s*"tokenCount":\s*(\d+)|"audio_tokens":\s*([1-9]\d*)/;

for (const { file, format, stream, status, bytes } of [
  ...loadRecordings(),
  ...loadCloudAnswers(),
]) {
  const [, inGemini, inChat] = counts.exec(bytes.toString()) ?? [];
  const counted = Number(inGemini ?? inChat ?? 0);
  if (stream || status !== 200 || counted === 0) continue;
  test(`${file}: its sound is counted`, () => {
    const billed = upstreamFormats[format].readBilledAnswer(JSON.parse(bytes.toString()));
    assert.equal(totalAudioTokens(billed!.usage!), counted);
    assert.ok(billed!.usage!.inputTokens >= counted);
  });
}

for (const { file, request } of loadRecordings()) {
  if (!request?.includes('"input_audio"')) continue;
  test(`${file}: the hold covers four seconds of MP3, and no more than 30`, () => {
    const { audio, hasSound } = estimateInputTokens(JSON.parse(request.toString()));
    assert.ok(hasSound);
    // Voxtral counts 375 tokens for a piece of 30 seconds.
    assert.ok(audio.upper >= 375 && audio.upper <= 30 * 33, String(audio.upper));
  });
}
