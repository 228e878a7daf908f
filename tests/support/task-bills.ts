// Hosts of tasks that keep a bill of their own, by the gateway's own count or a multiple of it. A token, a
// character and a tenth of a search unit cost a microdollar.
import fc from './property.ts';
import type { SendOptions } from './http.ts';
import { estimateInputTokens } from '../../src/lib/tokens.ts';
import type { ModelType } from '../../src/terms/model-type.ts';
import { audioForm, wav } from './task-samples.ts';
import {
  answerBytes,
  answerJson,
  answerSse,
  answerStatus,
  thenReset,
  type Script,
} from './upstream.ts';

/** `heard`: the part of the input that is sound, and costs two microdollars more. */
type Counts = { readonly input: number; readonly output: number; readonly heard?: number };

/** A request, the host's answer to it, and what it bills. */
type Order = {
  readonly request: SendOptions;
  readonly counts: Counts;
  /** `counts`: null: it counts nothing. */
  readonly answer: (counts: Counts | null) => Script;
};

type BilledTask = {
  readonly type: ModelType;
  readonly path: string;
  /** Left out: as its type. */
  readonly soldAt?: string;
  readonly prices: object;
  readonly order: (model: string, texts: readonly string[]) => Order;
  /** It counts nothing, so it bills what it must. */
  readonly isUncounted?: boolean;
  /** The only host, of a vendor with a form of its own. Left out: all of `taskHosts`. */
  readonly host?: string;
};

/** As the gateway's own count: a token for every four bytes. */
const tokensOf = (...texts: readonly string[]) =>
  texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0);
const byTokens = { input: 1, output: 1 };
const inUnits = (field: string, price: number) => ({ input: 0, output: 0, [field]: price });
const json = (answer: object, counted: (counts: Counts) => object) => (counts: Counts | null) =>
  answerJson({ ...answer, ...(counts && counted(counts)) });
const usage = ({ input, output }: Counts) => ({
  input_tokens: input,
  output_tokens: output,
  type: 'tokens',
});

const ranking = (model: string, [query = '', ...others]: readonly string[]) => {
  const documents = [query, ...others];
  const results = documents.map((_, index) => ({ index, relevance_score: index / 100 }));
  return { request: { body: { model, query, documents } }, results, query, documents };
};
const speech = (model: string, [input = '']: readonly string[]) => {
  const request = { body: { model, input: `Say ${input}`, voice: 'alloy' } };
  return { request, input: request.body.input };
};
const audio = Buffer.from('the audio');
const audioSeconds = 4;

/**
 * An order of a chat model, billed by the gateway's own count of `asked`: the same request in Chat's form.
 */
function chatOrder(body: object, choice: object, asked = body): Order {
  const { likely, audio: sound } = estimateInputTokens(asked);
  return {
    request: { body },
    counts: { input: likely, output: 1, heard: sound.likely },
    answer: json({ choices: [{ index: 0, finish_reason: 'stop', ...choice }] }, (counts) => ({
      usage: {
        prompt_tokens: counts.input,
        completion_tokens: counts.output,
        prompt_tokens_details: { audio_tokens: counts.heard },
      },
    })),
  };
}

export const billedTasks: Readonly<Record<string, BilledTask>> = {
  embeddings: {
    type: 'embedding',
    path: '/embeddings',
    prices: byTokens,
    order: (model, input) => ({
      request: { body: { model, input } },
      counts: { input: tokensOf(...input), output: 0 },
      answer: json({ data: input.map((_, index) => ({ index, embedding: [1, 2] })) }, (counts) => ({
        usage: { prompt_tokens: counts.input },
      })),
    }),
  },
  'rerank-by-token': {
    type: 'rerank',
    path: '/rerank',
    prices: byTokens,
    order(model, texts) {
      const { request, results, query, documents } = ranking(model, texts);
      const input = documents.reduce((sum, document) => sum + tokensOf(query, document), 0);
      return {
        request,
        counts: { input, output: 0 },
        answer: json({ results }, (counts) => ({ usage: { total_tokens: counts.input } })),
      };
    },
  },
  'rerank-by-search': {
    type: 'rerank',
    path: '/rerank',
    prices: inUnits('search', 0.00001),
    order(model, texts) {
      const { request, results } = ranking(model, texts);
      return {
        request,
        counts: { input: 10, output: 0 },
        answer: json({ results }, (counts) => ({
          meta: { billed_units: { search_units: counts.input / 10 } },
        })),
      };
    },
  },
  moderation: {
    type: 'moderation',
    path: '/moderations',
    prices: byTokens,
    isUncounted: true,
    order(model, [input = '']) {
      const result = { flagged: true, categories: { hate: true }, category_scores: { hate: 1 } };
      return {
        request: { body: { model, input } },
        counts: { input: tokensOf(input), output: 0 },
        answer: () => answerJson({ results: [result] }),
      };
    },
  },
  'speech-by-character': {
    type: 'speech',
    path: '/audio/speech',
    prices: inUnits('million_characters', 1),
    isUncounted: true,
    order(model, texts) {
      const { request, input } = speech(model, texts);
      return {
        request,
        counts: { input: Array.from(input).length, output: 0 },
        answer: () => answerBytes(audio, { headers: { 'content-type': 'audio/mpeg' } }),
      };
    },
  },
  'speech-by-token': {
    type: 'speech',
    path: '/audio/speech',
    prices: byTokens,
    order(model, texts) {
      const { request, input } = speech(model, texts);
      return {
        request,
        counts: { input: tokensOf(input), output: 2 * Buffer.byteLength(input) },
        answer: (counts) =>
          answerSse([
            { data: { type: 'speech.audio.delta', audio: audio.toString('base64') } },
            { data: { type: 'speech.audio.done', ...(counts && { usage: usage(counts) }) } },
          ]),
      };
    },
  },
  'transcription-by-second': {
    type: 'transcription',
    path: '/audio/transcriptions',
    prices: inUnits('minute', 0.0006),
    order: (model) => ({
      request: audioForm({ model }, wav(audioSeconds)),
      counts: { input: 10 * audioSeconds, output: 0 },
      answer: json({ text: 'Hello' }, ({ input }) => ({ usage: { seconds: input / 10 } })),
    }),
  },
  'transcription-at-deepgram': {
    type: 'transcription',
    host: 'deepgram',
    path: '/listen',
    prices: inUnits('minute', 0.0006),
    order: (model) => ({
      request: audioForm({ model }, wav(audioSeconds)),
      counts: { input: 10 * audioSeconds, output: 0 },
      answer: json(
        { results: { channels: [{ alternatives: [{ transcript: 'Hello' }] }] } },
        (counts) => ({
          metadata: { duration: counts.input / 10 - 0.5 },
        }),
      ),
    }),
  },
  'transcription-at-cohere': {
    type: 'transcription',
    host: 'cohere',
    path: '/v2/audio/transcriptions',
    prices: inUnits('minute', 0.0006),
    isUncounted: true,
    order: (model) => ({
      request: audioForm({ model, language: 'en' }, wav(audioSeconds)),
      counts: { input: 10 * audioSeconds, output: 0 },
      answer: () => answerJson({ text: 'Hello' }),
    }),
  },
  'transcription-by-token': {
    type: 'transcription',
    path: '/audio/transcriptions',
    prices: byTokens,
    order: (model) => ({
      request: audioForm({ model }, wav(audioSeconds)),
      counts: { input: 10 * audioSeconds, output: 4 * audioSeconds },
      answer: json({ text: 'Hello' }, (counts) => ({ usage: usage(counts) })),
    }),
  },
};

/** Beside tasks: a conversation with sound, and a prompt that the host continues. */
export const billedChats: Readonly<Record<string, BilledTask>> = {
  sound: {
    type: 'chat',
    path: '/chat/completions',
    soldAt: '/v1/chat/completions',
    prices: { ...byTokens, audio: 3 },
    order(model, texts) {
      const data = wav(audioSeconds).toString('base64');
      const sound = { type: 'input_audio', input_audio: { data, format: 'wav' } };
      const content = [...texts.map((text) => ({ type: 'text', text })), sound];
      const message = { role: 'assistant', content: 'Yes.' };
      return chatOrder({ model, messages: [{ role: 'user', content }] }, { message });
    },
  },
  completion: {
    type: 'chat',
    path: '/completions',
    soldAt: '/v1/completions',
    prices: byTokens,
    order(model, prompt) {
      const messages = prompt.map((content) => ({ role: 'user', content }));
      return chatOrder({ model, prompt, max_tokens: 1 }, { text: 'Yes.' }, { model, messages });
    },
  },
};

const taskHosts = ['few', 'many'];

export function taskHostsOf({ host }: BilledTask): readonly string[] {
  return host === undefined ? taskHosts : [host];
}

export function taskHostProviders(url: string) {
  const at = (name: string) => ({ base_url: `${url}/${name}`, api_key: 'none' });
  const compatible = { kind: 'openai-compatible', completions: true };
  return {
    ...Object.fromEntries(taskHosts.map((name) => [name, { ...compatible, ...at(name) }])),
    deepgram: at('deepgram'),
  };
}

export function billedTaskModels() {
  return Object.fromEntries(
    Object.entries({ ...billedTasks, ...billedChats }).map(([id, task]) => {
      const { type, prices } = task;
      const routes = taskHostsOf(task).map((provider) => ({ provider, model: 'm' }));
      const supports = type === 'chat' && { supports: { audio: true } };
      return [id, { type, prices, routes, ...supports }];
    }),
  );
}

/** `times`: what it bills, as a multiple of our own count. */
export type TaskOutcome = {
  readonly kind: 'answers' | 'counts nothing' | 'refuses' | 'breaks off' | 'answers nonsense';
  readonly times: number;
};

export const taskOutcome: fc.Arbitrary<TaskOutcome> = fc.oneof(
  fc.record({ kind: fc.constant('answers' as const), times: fc.constantFrom(1, 1, 50) }),
  fc.record({
    kind: fc.constantFrom<TaskOutcome['kind']>(
      'counts nothing',
      'refuses',
      'breaks off',
      'answers nonsense',
    ),
    times: fc.constant(1),
  }),
);

/**
 * Bills each call that reached the model. In a chat, an answer that makes no sense comes from a proxy, and
 * only what the model wrote is output.
 */
export function billingTaskHost(
  { type, isUncounted = false }: BilledTask,
  { counts, answer }: Order,
  { outcome: { kind, times }, bill }: { outcome: TaskOutcome; bill: (micros: number) => void },
): Script {
  return (response, request) => {
    if (kind === 'refuses') return answerStatus(503)(response, request);
    const billed = isUncounted ? 1 : times;
    const { input, output, heard = 0 } = counts;
    const told = { input: input * billed, output: output * billed, heard: heard * billed };
    const hasRun = type !== 'chat' || kind !== 'answers nonsense';
    const written = type === 'chat' && kind === 'breaks off' ? 0 : told.output;
    bill(hasRun ? told.input + written + 2 * told.heard : 0);
    if (kind === 'breaks off') return thenReset('')(response, request);
    if (kind === 'answers nonsense') return answerJson({ data: 'none' })(response, request);
    return answer(kind === 'counts nothing' ? null : told)(response, request);
  };
}
