import type { EmbeddingPurpose } from './embedding.ts';
import type { SpeechFormat } from './speech.ts';

/** What a host wants otherwise than OpenAI's. Each may be left out: nothing. */
export type HostWishes = {
  /** Harmless fields that it refuses with an error; they are left out. */
  readonly refused?: readonly string[];
  /** It refuses all fields but these. */
  readonly only?: readonly string[];
  /** Its own name of a field. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Its least and its largest number for a field. */
  readonly ranges?: Readonly<Record<string, readonly [least: number, most: number]>>;
  /** Fields of a function that it refuses. */
  readonly refusedOfTools?: readonly string[];
  /**
   * Its word for a tool choice; `named`: of one tool, which is then the only one that it is offered.
   * null: it has none, and calls are then not forced.
   */
  readonly toolChoices?: {
    readonly required?: string | null;
    readonly named?: string | null;
    readonly none?: string | null;
  };
  /** Its fee, in microdollars, for a request that its rules forbid. Left out: none. */
  readonly forbiddenFeeMicros?: number;
  /** It cannot use tools at all. */
  readonly lacksTools?: true;
  /** The fields that tell it not to think. Left out: `reasoning_effort`, which is `none`. */
  readonly notThinking?: Readonly<Record<string, unknown>>;
  /** Its models whose thinking is only on or off: the one effort that they know is `none`. */
  readonly withoutEfforts?: RegExp;
  /** It refuses a forced call while the model thinks, so that the model must not think then. */
  readonly forcesWithoutThinking?: true;
  /** Where it reads the reasoning of earlier answers. Left out: in `reasoning_content`. */
  readonly reasoningIn?: 'reasoning' | 'content';
  /** Contents that are only text must be strings: of results of tools, or of every message. */
  readonly stringContents?: 'results' | 'all';
  /** It refuses two messages in a row of the user, or of the assistant. */
  readonly alternates?: true;
  /** It refuses JSON mode, but not a schema. */
  readonly lacksJsonMode?: true;
  readonly embeddings?: EmbeddingWishes;
  /** Speech; a name: in that vendor's own form. */
  readonly speech?: SpeechWishes | 'mistral' | 'xai' | 'elevenlabs' | 'deepgram';
  readonly rerank?: RerankWishes;
  /** How it goes on from a last message of the assistant. Left out: without a mark. */
  readonly prefill?: PrefillWishes;
  /** It continues prompts itself. Left out: they are asked in Chat. */
  readonly completions?: CompletionWishes;
  /** Transcription; a name: in that vendor's own form. */
  readonly transcription?: TranscriptionWishes | 'xai' | 'elevenlabs' | 'deepgram';
  /** The vendor in whose form it takes batches. Left out: it takes none. */
  readonly batches?: 'openai' | 'mistral' | 'xai';
};

/** How a host goes on from the beginning of an answer. */
export type PrefillWishes = {
  /** The field of the message that says so. */
  readonly mark: 'prefix' | 'partial';
  /** The whole path. Left out: the usual one. */
  readonly path?: string;
  /** It sends the beginning again. */
  readonly echoes?: true;
};

/** How a host continues prompts. */
export type CompletionWishes = {
  /** Left out: `/completions`, below the base URL. */
  readonly path?: string;
  /** The path is the whole path. */
  readonly isAtOrigin?: boolean;
  /** The most output tokens that it takes. */
  readonly tokensMax?: number;
  /** Only some of its models do it: a plain prompt is asked in Chat. */
  readonly onlyIfNeeded?: true;
};

/** What a host of transcriptions wants otherwise than OpenAI. Each may be left out: nothing. */
export type TranscriptionWishes = {
  /** The only fields that it takes. */
  readonly only?: readonly string[];
  /** It always answers JSON, with segments if they are asked for. */
  readonly lacksFormats?: true;
  readonly lacksTranslations?: true;
  /** It does not send events, or not OpenAI's. */
  readonly lacksStreams?: true;
  /** It tells how long the audio is only beside segments. */
  readonly measuresSegmentsOnly?: true;
  /** The shortest time that it bills. */
  readonly secondsMin?: number;
};

/** What a host of speech wants otherwise than OpenAI. */
type SpeechWishes = {
  /** The formats that it makes, its usual one first. */
  readonly formats: readonly SpeechFormat[];
};

/** What a host that ranks documents wants otherwise than Cohere's form. Each may be left out: nothing. */
export type RerankWishes = {
  /** Left out: `/rerank`, below the base URL. */
  readonly path?: string;
  /** The path is the whole path. */
  readonly isAtOrigin?: boolean;
  /** Its name of `top_n`. */
  readonly topField?: string;
  /** Its name of `max_tokens_per_doc`. Left out: it has no such field. */
  readonly lengthField?: string;
  /** Sent with every request. */
  readonly fixed?: Readonly<Record<string, unknown>>;
};

/** What a host of embeddings wants otherwise than OpenAI. Each may be left out: nothing. */
export type EmbeddingWishes = {
  /** Below the base URL. */
  readonly path?: string;
  /** Inputs of one call. */
  readonly itemsMax?: number;
  /** Tokens of one call. */
  readonly tokensMax?: number;
  /** It takes tokens in place of texts. Left out: no. */
  readonly takesTokens?: boolean;
  /** Its name of `dimensions`. */
  readonly sizeField?: string;
  /** Its name of `encoding_format`; null: it has no such field. */
  readonly encodingField?: string | null;
  /** Its field for what the vectors are for. Left out: it has none. */
  readonly purposes?: {
    readonly field: string;
    readonly words: Readonly<Record<EmbeddingPurpose, string | null>>;
    /** Sent when the client names no purpose, where the host requires one. */
    readonly usual?: EmbeddingPurpose;
  };
  /** Its vectors are base64 of signed bytes. */
  readonly isInt8?: boolean;
  /** Left out: true. */
  readonly takesUser?: boolean;
};
