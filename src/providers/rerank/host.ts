// The interface of a host of models that rank documents. Pure: the gateway does the HTTP.
import type { JsonObject } from '../../lib/json.ts';
import type { TaskAddress } from '../provider.ts';

type RerankJob = {
  readonly upstreamModel: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** How many results are wanted. A host may return more. */
  readonly topCount: number;
  readonly tokensPerDocument: number | null;
};

export type Ranked = { readonly index: number; readonly score: number };

export type Ranking = {
  /** In any order, each index at most once. */
  readonly results: readonly Ranked[];
  /** What the host counts; null: nothing. */
  readonly searchUnits: number | null;
  readonly tokens: number | null;
};

export type RerankHost = {
  /** Fields of our API that it has no word for. */
  readonly ignores: readonly 'max_tokens_per_doc'[];
  readonly write: (job: RerankJob) => TaskAddress & { readonly body: JsonObject };
};
