// Speech of Gemini's TTS models: raw PCM in base64. https://ai.google.dev/gemini-api/docs/speech-generation
import { readTokenCounts } from '../../canonical/usage.ts';
import { objectOf, listOf } from '../../lib/json.ts';
import { modelPath } from '../vertex/paths.ts';
import { readBase64, type SpeechHost, type SpeechJob } from './host.ts';
import { wavHeader } from './wav.ts';

export const gemini = at(
  ({ upstreamModel }) => `/v1beta/models/${encodeURIComponent(upstreamModel)}`,
);

export const vertex = at(({ upstreamModel, place }) =>
  modelPath('v1', 'google', upstreamModel, place),
);

function at(pathOf: (job: SpeechJob) => string): SpeechHost {
  return {
    formats: ['wav', 'pcm'],
    ignores: ['instructions', 'speed'],
    write: (job) => ({
      path: `${pathOf(job)}:generateContent`,
      answer: 'json',
      body: {
        contents: [{ role: 'user', parts: [{ text: job.input }] }],
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: job.voice } } },
        },
      },
    }),
    read({ candidates, usageMetadata }, { format }) {
      const pieces = partsOf(candidates).map(readPart);
      if (pieces.length === 0 || pieces.includes(null)) return null;
      const pcm = Buffer.concat(pieces.map((piece) => piece!.bytes));
      const header = format === 'pcm' ? [] : [wavHeader(pcm.length, pieces[0]!.rate)];
      const audio = Buffer.concat([...header, pcm]);
      const { promptTokenCount: input, candidatesTokenCount: output } = objectOf(usageMetadata);
      return { audio, count: readTokenCounts(input, output) };
    },
  };
}

function partsOf(candidates: unknown): readonly unknown[] {
  const { content } = objectOf(listOf(candidates)[0]);
  return listOf(objectOf(content).parts);
}

const usualRate = 24_000;

function readPart(part: unknown): { readonly bytes: Buffer; readonly rate: number } | null {
  const { data, mimeType } = objectOf(objectOf(part).inlineData);
  const bytes = readBase64(data);
  const [, rate] = /^audio\/L16\b.*\brate=(\d{4,6})\b/i.exec(String(mimeType)) ?? [];
  return bytes && { bytes, rate: Number(rate ?? usualRate) };
}
