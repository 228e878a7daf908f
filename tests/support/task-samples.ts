// A request of each task, what a host answers, and what it costs: for tests that cover all of them.
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import { modelTypes, type ModelType } from '../../src/terms/model-type.ts';
import type { SendOptions } from './http.ts';
import { answerJson, type Script } from './upstream.ts';

export type TaskType = Exclude<ModelType, 'chat'>;

export type TaskSample = {
  readonly type: TaskType;
  readonly path: string;
  /** At the host, below its `/v1`. */
  readonly hostPath: string;
  readonly prices: object;
  /** `words`: in the text where directives are read. */
  readonly request: (model: string, words?: string) => SendOptions;
  /** A host's answer, with its count if it has one. Of speech: Mistral's. */
  readonly json: object;
  readonly answer: Script;
  /** The same answer with a count of 0; left out: it has no count. */
  readonly zero?: object;
  readonly costOf: (words: string) => number;
  /** Without words. */
  readonly costMicros: number;
  /** What a call that breaks off may have cost, by our own count. */
  readonly lostMicros: number;
  readonly heldMicros: number;
  /** Of a refused hold. */
  readonly affordable: string;
  /** The price in `/v1/models/info`. */
  readonly listed: readonly [field: string, price: number];
};

const inMillions = (field: string, price: number) =>
  ({ prices: { input: 0, output: 0, [field]: price } }) as const;
const asJson = (body: (words: string) => object) => (model: string, words?: string) => ({
  body: { model, ...body(words ?? '') },
});
const input = 'Hello, you there';
const inputTokens = estimateInputTokens([input]).upper;

type Sample = Omit<TaskSample, 'type' | 'path' | 'answer' | 'costMicros'> &
  Partial<Pick<TaskSample, 'answer'>>;

const samples: Readonly<Record<TaskType, Sample>> = {
  embedding: {
    hostPath: '/embeddings',
    ...inMillions('input', 2),
    request: asJson((words) => ({ input: words || input })),
    json: { data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 5 } },
    zero: { data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 0 } },
    costOf: () => 10,
    lostMicros: 8,
    heldMicros: 2 * inputTokens,
    affordable: 'affordable_input_tokens',
    listed: ['input_price_per_1m', 2],
  },
  rerank: {
    hostPath: '/rerank',
    ...inMillions('search', 0.00001),
    request: asJson((words) => ({ query: words || input, documents: ['A harbour'] })),
    json: {
      results: [{ index: 0, relevance_score: 0.5 }],
      meta: { billed_units: { search_units: 1 } },
    },
    zero: {
      results: [{ index: 0, relevance_score: 0.5 }],
      meta: { billed_units: { search_units: 0 } },
    },
    costOf: () => 10,
    lostMicros: 10,
    heldMicros: 10,
    affordable: 'affordable_search_units',
    listed: ['price_per_search_unit', 0.00001],
  },
  moderation: {
    hostPath: '/moderations',
    ...inMillions('input', 3),
    request: asJson((words) => ({ input: words || input })),
    json: {
      results: [{ flagged: false, categories: { hate: false }, category_scores: { hate: 0 } }],
    },
    costOf: (words) => 3 * Math.ceil(words.length / 4),
    lostMicros: 12,
    heldMicros: 3 * inputTokens,
    affordable: 'affordable_input_tokens',
    listed: ['input_price_per_1m', 3],
  },
  speech: {
    hostPath: '/audio/speech',
    ...inMillions('million_characters', 1),
    request: asJson((words) => ({ input: words || input, voice: 'alloy' })),
    json: { audio_data: Buffer.alloc(90, 'the audio').toString('base64') },
    answer: (response) =>
      void response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('the audio'),
    costOf: (words) => words.length,
    lostMicros: 16,
    heldMicros: 16,
    affordable: 'affordable_characters',
    listed: ['price_per_1m_characters', 1],
  },
  transcription: {
    hostPath: '/audio/transcriptions',
    ...inMillions('minute', 0.0006),
    request: (model, words) => audioForm({ model, ...(words && { prompt: words }) }, wav(3.7)),
    json: { text: 'Hello', usage: { type: 'duration', seconds: 4 } },
    zero: { text: 'Hello', usage: { type: 'duration', seconds: 0 } },
    costOf: () => 40,
    lostMicros: 40,
    heldMicros: 40,
    affordable: 'affordable_seconds',
    listed: ['price_per_minute', 0.0006],
  },
};

export const taskSamples: readonly TaskSample[] = Object.entries(samples).map(([type, sample]) => ({
  type: type as TaskType,
  path: modelTypes[type as TaskType].path,
  answer: answerJson(sample.json),
  costMicros: sample.costOf(input),
  ...sample,
}));

/** PCM of 8,000 bytes a second; `says`: what its header says that its data is long. */
export function wav(seconds: number, says = Math.round(8_000 * seconds)): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF\0\0\0\0WAVEfmt ', 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(says, 40);
  return Buffer.concat([head, Buffer.alloc(Math.round(8_000 * seconds), 1)]);
}

export const formHeaders = { 'content-type': 'multipart/form-data; boundary=b' };

export function audioForm(
  fields: Readonly<Record<string, string>>,
  file: Buffer,
  { isFileFirst = true }: { readonly isFileFirst?: boolean } = {},
) {
  const part = (name: string, content: string | Buffer) => [
    Buffer.from(`--b\r\ncontent-disposition: form-data; name="${name}"`),
    Buffer.from(name === 'file' ? '; filename="a.wav"\r\n\r\n' : '\r\n\r\n'),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ];
  const texts = Object.entries(fields).flatMap(([name, value]) => part(name, value));
  const audio = part('file', file);
  const parts = isFileFirst ? [...audio, ...texts] : [...texts, ...audio];
  return { body: Buffer.concat([...parts, Buffer.from('--b--\r\n')]), headers: formHeaders };
}
