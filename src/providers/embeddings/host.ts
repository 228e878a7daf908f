// The interface of a host of embedding models: what one call looks like, and what its answer says.
// Pure: the gateway does the HTTP.
import type { EmbeddingEncoding, EmbeddingInput, EmbeddingPurpose } from '../../terms/embedding.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ProviderPlace, TaskAddress } from '../provider.ts';
import type { Vector } from './vectors.ts';

export type EmbeddingJob = {
  readonly upstreamModel: string;
  readonly place: ProviderPlace;
  /** At most `itemsMax`. */
  readonly inputs: readonly EmbeddingInput[];
  /** null: the model's own. */
  readonly dimensions: number | null;
  readonly purpose: EmbeddingPurpose | null;
  /** The form that the client wants. A host may answer in the other one. */
  readonly encoding: EmbeddingEncoding;
  /** A digest of the end user; null: none is named. */
  readonly user: string | null;
};

export type Embedded = {
  /** In the order of the inputs. */
  readonly vectors: readonly Vector[];
  /** null: the host counts none. */
  readonly tokens: number | null;
};

/** What most hosts have. */
export const textsOnly = { takesTokens: false, ignores: ['user'] } as const;

export type EmbeddingHost = {
  /** Inputs of one call. */
  readonly itemsMax: number;
  /** Tokens of one call, as estimated; left out: no limit. */
  readonly tokensMax?: number;
  /** True when it takes tokens in place of texts. */
  readonly takesTokens: boolean;
  /** Fields of our API that it has no word for. */
  readonly ignores: readonly ('input_type' | 'user')[];
  readonly write: (job: EmbeddingJob) => TaskAddress & { readonly body: JsonObject };
  /** Returns null for an answer that is none. It may have too few vectors. */
  readonly read: (answer: JsonObject, job: EmbeddingJob) => Embedded | null;
};
