// The requests and answers of models that answer no conversations, by their type, for the playground.
import type { OtherModel } from '../../../src/management/contract/models.ts';
import type { Json } from '../../api/chat-formats/types.ts';
import { voiceOf } from '../../parts/model-text.ts';
import { countedText, countText } from '../../parts/number-text.ts';
import { byLikeness, textsOf } from './likeness.ts';

type Field = {
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  /** Left out: one line. */
  readonly rows?: number;
};

/** By a field's name. */
export type Values = Readonly<Record<string, string>>;

export type Result = {
  readonly title: string;
  readonly note: string;
  /** A name, the heads of its two columns, and its rows. */
  readonly table?: {
    readonly name: string;
    readonly heads: readonly [string, string];
    readonly rows: readonly (readonly [string, string])[];
  };
  readonly audio?: Blob;
};

type OtherType = {
  readonly path: `/v1/${string}`;
  readonly fields: readonly Field[];
  readonly takesFile?: boolean;
  readonly action: string;
  /** Returns null while something is missing. */
  readonly bodyOf: (values: Values, model: Pick<OtherModel, 'vendor'>) => Json | null;
  readonly read: (response: Response, values: Values) => Promise<Result>;
};

const text = (values: Values, name = 'text') => (values[name] ?? '').trim();

export const otherTypes: Readonly<Record<OtherModel['type'], OtherType>> = {
  embedding: {
    path: '/v1/embeddings',
    fields: [
      {
        name: 'texts',
        label: 'Texts',
        description: 'One in each line. The others are compared with the first.',
        placeholder: 'a lighthouse at night\nthe lighthouse\na loaf of bread',
        rows: 4,
      },
    ],
    action: 'Compare',
    bodyOf(values) {
      const input = textsOf(text(values, 'texts'));
      return input.length < 2 ? null : { input };
    },
    async read(response, values) {
      type Answer = { readonly data: readonly { readonly embedding: readonly number[] }[] };
      const { data } = (await response.json()) as Answer;
      const texts = textsOf(text(values, 'texts'));
      const vectors = data.map(({ embedding }) => embedding);
      return {
        title: texts[0]!,
        note: `${countText(vectors[0]!.length)} dimensions`,
        table: {
          name: 'Similar texts',
          heads: ['Text', 'Likeness'],
          rows: byLikeness(texts, vectors).map(({ text: other, likeness }) => [
            other,
            likeness.toFixed(3),
          ]),
        },
      };
    },
  },
  rerank: {
    path: '/v1/rerank',
    fields: [
      { name: 'query', label: 'Query', placeholder: 'What guides ships?' },
      {
        name: 'documents',
        label: 'Documents',
        description: 'One in each line.',
        placeholder: 'A lighthouse stands at the harbour.\nBread needs flour.',
        rows: 4,
      },
    ],
    action: 'Rank',
    bodyOf(values) {
      const query = text(values, 'query');
      const documents = textsOf(text(values, 'documents'));
      return query === '' || documents.length === 0 ? null : { query, documents };
    },
    async read(response, values) {
      type Ranked = { readonly index: number; readonly relevance_score: number };
      const { results } = (await response.json()) as { readonly results: readonly Ranked[] };
      const documents = textsOf(text(values, 'documents'));
      return {
        title: text(values, 'query'),
        note: countedText(results.length, 'document'),
        table: {
          name: 'Ranking',
          heads: ['Document', 'Relevance'],
          rows: results.map(({ index, relevance_score: score }) => [
            documents[index] ?? '',
            score.toFixed(3),
          ]),
        },
      };
    },
  },
  moderation: {
    path: '/v1/moderations',
    fields: [{ name: 'text', label: 'Text', rows: 4 }],
    action: 'Judge',
    bodyOf: (values) => (text(values) === '' ? null : { input: text(values) }),
    async read(response, values) {
      type Judged = {
        readonly flagged: boolean;
        readonly category_scores: Readonly<Record<string, number>>;
      };
      const { results } = (await response.json()) as { readonly results: readonly [Judged] };
      const [{ flagged, category_scores: scores }] = results;
      return {
        title: text(values),
        note: flagged ? 'Flagged' : 'Not flagged',
        table: {
          name: 'Categories',
          heads: ['Category', 'Score'],
          rows: Object.entries(scores)
            .toSorted(([, one], [, other]) => other - one)
            .map(([name, score]) => [name, score.toFixed(3)]),
        },
      };
    },
  },
  speech: {
    path: '/v1/audio/speech',
    fields: [
      { name: 'text', label: 'Text', rows: 4 },
      { name: 'voice', label: 'Voice', description: 'Empty: one that the vendor has.' },
    ],
    action: 'Speak',
    bodyOf: (values, { vendor }) =>
      text(values) === ''
        ? null
        : { input: text(values), voice: text(values, 'voice') || voiceOf(vendor) },
    async read(response, values) {
      const audio = await response.blob();
      return { title: text(values), note: `${countText(audio.size)} bytes`, audio };
    },
  },
  transcription: {
    path: '/v1/audio/transcriptions',
    fields: [
      {
        name: 'language',
        label: 'Language',
        description: 'Its code, such as en. Cohere needs it.',
      },
      { name: 'prompt', label: 'Names that occur', description: 'They may be left out.' },
    ],
    takesFile: true,
    action: 'Transcribe',
    bodyOf: (values) =>
      Object.fromEntries(
        ['language', 'prompt'].flatMap((name) =>
          text(values, name) === '' ? [] : [[name, text(values, name)]],
        ),
      ),
    async read(response) {
      type Transcript = { readonly text: string; readonly usage?: { readonly seconds?: number } };
      const { text: said, usage } = (await response.json()) as Transcript;
      return {
        title: said,
        note: usage?.seconds === undefined ? 'Billed by tokens' : `${usage.seconds} seconds`,
      };
    },
  },
};
