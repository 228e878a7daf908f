// Makes the embeddings of one request at one route, in as many calls as its host needs.
import { invalidRequest } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { EmbeddingRequest } from '../../domain/embeddings/embedding-request.ts';
import type { EmbeddingInput } from '../../terms/embedding.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { EmbeddingHost } from '../../providers/embeddings/host.ts';
import { embeddingHostOf } from '../../providers/embeddings/index.ts';
import { cut, sizeOf, type Vector } from '../../providers/embeddings/vectors.ts';
import { embedInSandbox } from '../../providers/registry.ts';
import type { Callable } from '../calling/call-route.ts';
import { sendTask, unreadable, type TaskReply } from './task-call.ts';
import type { Gateway } from '../gateway.ts';
import { orderRoutes } from '../routing/order.ts';
import { findRoutes, modelNotFound, type ChosenRoute } from '../routing/route.ts';

export type EmbeddingRoute = Callable & {
  readonly chosen: ChosenRoute;
  readonly host: EmbeddingHost;
};

type RouteQuery = {
  readonly model: Model;
  readonly key: ApiKey;
  readonly request: EmbeddingRequest;
};

/** Returns the routes in order. Throws ApiError `model_not_found`, or 400 for tokens that none takes. */
export function embeddingRoutes(
  { hosts }: Gateway,
  { model, key, request }: RouteQuery,
): readonly [EmbeddingRoute, ...EmbeddingRoute[]] {
  const found = findRoutes(hosts, { model, mode: key.mode, clientFormat: 'chat' });
  const all = orderRoutes(found, () => 1 - hosts.routing.random()).flatMap((chosen) => {
    const { provider, kind, upstreamModel } = chosen;
    const { embeddings: wishes } = provider.wishes;
    const host = embeddingHostOf({ kind: kind.kind, upstreamModel, wishes });
    const baseUrl = chosen.isSandbox ? null : provider.baseUrl;
    return host ? [{ chosen, host, route: chosen.name, baseUrl }] : [];
  });
  if (all.length === 0) throw modelNotFound(model.id);
  const hasTokens = request.inputs.some((input) => typeof input !== 'string');
  const [first, ...others] = hasTokens ? all.filter(({ host }) => host.takesTokens) : all;
  if (first) return [first, ...others];
  throw invalidRequest(
    'input',
    `input has lists of tokens, which no provider of ${model.id} takes: send texts. LangChain sends them with \`check_embedding_ctx_length=False\`.`,
  );
}

type ToEmbed = Pick<RouteQuery, 'model' | 'request'> & {
  readonly gateway: Gateway;
  readonly accountId: string;
  readonly trace: TraceContext | null;
  readonly signal: AbortSignal;
};

export type EmbeddedAt = {
  readonly calls: number;
  /** Tokens that the provider bills and nobody gets. */
  readonly lostTokens: number;
} & (
  | {
      readonly kind: 'embedded';
      readonly route: EmbeddingRoute;
      readonly vectors: readonly Vector[];
      readonly tokens: number;
      /** The host counts none of them, or not all. */
      readonly isEstimate: boolean;
      readonly failure?: never;
    }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure }
);

/** Calls of one request that run at the same time. */
const callsAtOnce = 4;

/** After a failed call, no further one begins. The finished ones are lost. */
export async function embedAt(route: EmbeddingRoute, asked: ToEmbed): Promise<EmbeddedAt> {
  const parts = splitInputs(asked.request.inputs, route.host);
  const made: EmbeddedPart[] = [];
  let next = 0;
  let failed: FailedPart | null = null;
  let lostTokens = 0;
  const work = async () => {
    while (next < parts.length && !failed) {
      const index = next++;
      const part = parts[index]!;
      const result = await embedPart(route, asked, part);
      if (result.kind === 'embedded') made[index] = result;
      else {
        failed ??= result;
        if (result.mayBeBilled) lostTokens += countOf(part);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(callsAtOnce, parts.length) }, work));
  const tokens = made.reduce((sum, part) => sum + part.tokens, 0);
  const calls = next;
  if (failed !== null) {
    const { failure } = failed as FailedPart;
    return { kind: 'failure', failure, calls, lostTokens: lostTokens + tokens };
  }
  return {
    kind: 'embedded',
    route,
    vectors: made.flatMap(({ vectors }) => vectors),
    tokens,
    isEstimate: made.some(({ isEstimate }) => isEstimate),
    calls,
    lostTokens,
  };
}

type EmbeddedPart = {
  readonly kind: 'embedded';
  readonly vectors: readonly Vector[];
  readonly tokens: number;
  readonly isEstimate: boolean;
};
type FailedPart = Extract<TaskReply, { kind: 'failure' }>;

async function embedPart(
  { chosen, host }: EmbeddingRoute,
  { gateway, model, request, accountId, trace, signal }: ToEmbed,
  inputs: readonly EmbeddingInput[],
): Promise<EmbeddedPart | FailedPart> {
  const { hosts, clock } = gateway;
  const { dimensions, purpose, encoding } = request;
  if (chosen.isSandbox) {
    const size = dimensions ?? model.dimensions?.default ?? sandboxSize;
    const played = await embedInSandbox({ inputs, dimensions: size, signal, clock });
    return played.kind === 'failure'
      ? { ...played, mayBeBilled: false }
      : { ...played, isEstimate: false };
  }
  const user = request.user && digestOf(gateway, accountId, request.user);
  const job = {
    upstreamModel: chosen.upstreamModel,
    place: chosen.provider.place,
    inputs,
    dimensions,
    purpose,
    encoding,
    user,
  };
  const sending = { upstreams: hosts.upstreams, model, route: chosen, trace, signal };
  const reply = await sendTask(sending, host.write(job));
  if (reply.kind === 'failure') return reply;
  const read = host.read(reply.body, job);
  const vectors = read && fitSize(read.vectors, request, model);
  if (!vectors || vectors.length !== inputs.length)
    return unreadable('the answer does not have a vector of that size for each input');
  const tokens = read.tokens ?? reply.inputTokens ?? null;
  return {
    kind: 'embedded',
    vectors,
    tokens: tokens ?? countOf(inputs),
    isEstimate: tokens === null,
  };
}

/** The size of vectors when the catalogue knows none for the model. */
const sandboxSize = 1_536;

/** Providers see a digest in place of the name. */
function digestOf({ hosts }: Gateway, accountId: string, user: string): string {
  const recipient = {
    accountId,
    format: 'chat',
    wantsAccount: false,
    takesCacheSalt: false,
  } as const;
  return hosts.providers.endUsers.hide({ user }, recipient)['user'] as string;
}

/**
 * Cuts vectors of a host that ignores the size that was asked for. Returns null when they are of
 * different sizes, or too short.
 */
function fitSize(
  vectors: readonly Vector[],
  { dimensions: wanted }: EmbeddingRequest,
  { dimensions }: Model,
): readonly Vector[] | null {
  const sizes = new Set(vectors.map(sizeOf));
  const [size = 0, ...others] = sizes;
  if (others.length > 0 || (wanted !== null && size < wanted)) return null;
  if (wanted === null || size === wanted) return vectors;
  // Only models with several sizes have their meaning in the first numbers.
  const isCuttable = dimensions !== null && dimensions.min < dimensions.max;
  return isCuttable ? vectors.map((vector) => cut(vector, wanted)) : null;
}

/** Our own count, for hosts that count nothing. */
function countOf(inputs: readonly EmbeddingInput[]): number {
  return inputs.reduce<number>(
    (sum, input) =>
      sum + (typeof input === 'string' ? estimateInputTokens(input).likely : input.length),
    0,
  );
}

function splitInputs(
  inputs: readonly EmbeddingInput[],
  { itemsMax, tokensMax = Infinity }: EmbeddingHost,
): EmbeddingInput[][] {
  const parts: EmbeddingInput[][] = [];
  let part: EmbeddingInput[] = [];
  let tokens = 0;
  for (const input of inputs) {
    const added = countOf([input]);
    if (part.length > 0 && (part.length === itemsMax || tokens + added > tokensMax)) {
      parts.push(part);
      part = [];
      tokens = 0;
    }
    part.push(input);
    tokens += added;
  }
  return [...parts, part];
}
