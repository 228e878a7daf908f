// Transcription by Gemini's models: they are asked for the text in words, with the audio beside them.
// https://ai.google.dev/gemini-api/docs/audio
import { readTokenCount } from '../../canonical/usage.ts';
import { isObject, type JsonObject, objectOf, objectsOf, listOf } from '../../lib/json.ts';
import { modelPath } from '../vertex/paths.ts';
import type { TranscriptionHost, TranscriptionJob } from './host.ts';

export const gemini = at(
  ({ upstreamModel }) => `/v1beta/models/${encodeURIComponent(upstreamModel)}`,
);

export const vertex = at(({ upstreamModel, place }) =>
  modelPath('v1', 'google', upstreamModel, place),
);

const asked = {
  transcriptions: 'Write down what is said in the audio, word by word.',
  translations: 'Write down in English what is said in the audio.',
} as const;

const fieldsTaken = ['language', 'prompt', 'temperature'];
/** Stands for the file. */
const mark = 'THE-FILE';

function at(pathOf: (job: TranscriptionJob) => string): TranscriptionHost {
  return {
    lacks: ({ format }) => (format === 'json' ? null : 'times'),
    ignores: (field) => !fieldsTaken.includes(field),
    streams: false,
    // Recorded: 32 a second. It thinks a little first.
    tokens: { perSecond: 40, beside: 2_000 },
    write(job) {
      const { temperature } = job.fields;
      const body = JSON.stringify({
        generationConfig: {
          responseMimeType: 'text/plain',
          ...(job.outputTokensMax !== null && { maxOutputTokens: job.outputTokensMax }),
          ...(temperature !== undefined && { temperature: Number(temperature) }),
        },
        contents: [
          {
            role: 'user',
            parts: [
              { inlineData: { mimeType: job.mediaType, data: mark } },
              { text: promptOf(job) },
            ],
          },
        ],
      });
      // The mark stands where the file goes. The client's text follows the file, so the first one is ours.
      const start = body.indexOf(mark);
      const around = [body.slice(0, start), body.slice(start + mark.length)] as const;
      return { path: `${pathOf(job)}:generateContent`, body: { around } };
    },
    read: ({ candidates, usageMetadata }) => ({
      text: textOf(candidates),
      ...usageOf(usageMetadata),
    }),
  };
}

function promptOf({ task, fields: { language, prompt } }: TranscriptionJob): string {
  return [
    `${asked[task]} Answer with that text alone.`,
    ...(typeof language === 'string' ? [`The language of the audio: ${language}`] : []),
    ...(typeof prompt === 'string' ? [`Text before it, or names in it: ${prompt}`] : []),
  ].join('\n');
}

/** Returns null for an answer without a text; silence has an empty one. */
function textOf(candidates: unknown): string | null {
  const first = listOf(candidates)[0];
  if (!isObject(first)) return null;
  const texts = objectsOf(objectOf(first.content).parts).flatMap(({ text, thought }) =>
    typeof text === 'string' && thought !== true ? [text] : [],
  );
  return texts.length > 0 || first.finishReason === 'STOP' ? texts.join('').trim() : null;
}

function usageOf(usage: unknown): JsonObject {
  if (!isObject(usage)) return {};
  const tokens = (name: string) => readTokenCount(usage[name]) ?? 0;
  return {
    usage: {
      input_tokens: tokens('promptTokenCount'),
      output_tokens: tokens('candidatesTokenCount') + tokens('thoughtsTokenCount'),
    },
  };
}
