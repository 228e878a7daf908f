// What run.ts asks of an endpoint that is charged for, whatever it sells: a model's answer, images, searches.
import type { ApiError } from '../canonical/errors.ts';
import type { JsonObject } from '../formats/format.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { Admitted, IncomingRequest } from './admitted.ts';
import type { Client } from './client.ts';
import type { Gateway, RequestTrace } from './gateway.ts';
import type { Keeping } from './keeping.ts';

/** Reads and checks a request, and finds what serves it. Throws ApiError 400 or 404. */
export type Endpoint = (gateway: Gateway, incoming: IncomingRequest) => Work;

/** A request as its endpoint understands it. Nothing is held for it yet. */
export type Work = {
  /** The id that the key's list of models allows or not. */
  readonly modelId: string;
  /** Who is likely to serve it, for the log. */
  readonly provider: string;
  /** Who is likely to serve it and how, for the cache. */
  readonly route: string;
  /** Whether the client asked for a stream. */
  readonly stream: boolean;
  /** Whether it is for the cache unless a header says otherwise. */
  readonly isCachedUnasked: boolean;
  /** As it came, for the cache. */
  readonly body: JsonObject;
  /** What it will likely use of its key's tokens a minute; asked for once, before it is executed. */
  readonly countTokens: () => number;
  /** Holds, runs, answers, charges. Throws the ApiError to answer with; either way nothing stays held. */
  readonly execute: (admitted: Admitted, client: Client, keeping: Keeping) => Promise<void>;
  /** The frames that end a stream of which nothing but keep-alives was sent. */
  readonly writeFailure: (error: ApiError) => string;
};

/** For the log and the metrics: who asks. */
export function noteKey(trace: RequestTrace, { id, accountId, mode }: Pick<ApiKey, 'id' | 'accountId' | 'mode'>): void {
  trace.keyId = id;
  trace.accountId = accountId;
  trace.mode = mode;
}

/** For the log and the metrics: what is asked for, and of whom. */
export function noteWork(
  trace: RequestTrace,
  { modelId, provider, stream }: Pick<Work, 'modelId' | 'provider' | 'stream'>,
): void {
  trace.model = modelId;
  trace.provider = provider;
  trace.stream = stream;
}
