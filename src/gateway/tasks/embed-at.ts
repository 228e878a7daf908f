// Makes the embeddings of one request at one route, in as many calls as its host needs.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { unreadable, UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { Model } from '../../domain/catalog/model.ts';
import type { EmbeddingRequest } from '../../domain/tasks/embedding-request.ts';
import type { EmbeddingInput } from '../../terms/embedding.ts';
import { estimateInputTokens } from '../../lib/tokens.ts';
import type { EmbeddingHost, EmbeddingJob } from '../../providers/embeddings/host.ts';
import { resultBytesMax } from '../../providers/batches/shared.ts';
import { cut, type Vector } from '../../providers/embeddings/vectors.ts';
import { embedInSandbox } from '../../providers/sandbox/embed.ts';
import type { Gateway } from '../gateway.ts';
import type { ChosenRoute } from '../routing/route.ts';
import type { Called, Calling, TaskRoute } from './task-sale.ts';
import { mayBeBilled, sendTask } from './task-call.ts';

/** Calls of one request that run at the same time. */
const callsAtOnce = 4;

/** After a failed call, no further one begins. The finished ones are lost. */
export async function embedAt(
  route: TaskRoute<EmbeddingHost>,
  calling: Calling<EmbeddingRequest>,
): Promise<Called<readonly Vector[]>> {
  const parts = splitInputs(calling.request.inputs, route.host);
  const made: EmbeddedPart[] = [];
  const failures: UpstreamFailure[] = [];
  let next = 0;
  let lostTokens = 0;
  const work = async () => {
    while (next < parts.length && failures.length === 0) {
      const index = next++;
      const part = parts[index]!;
      try {
        made[index] = await embedPart(route, calling, part);
      } catch (error) {
        if (!(error instanceof UpstreamBroken)) throw error;
        failures.push(error.failure);
        if (mayBeBilled(error.failure)) lostTokens += countOf(part);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(callsAtOnce, parts.length) }, work));
  const inputTokens = made.reduce((sum, part) => sum + part.tokens, 0);
  const [failure] = failures;
  if (failure) return { failure, calls: next, lost: { inputTokens: lostTokens + inputTokens } };
  return {
    made: made.flatMap(({ vectors }) => vectors),
    count: { inputTokens },
    isEstimate: made.some(({ isEstimate }) => isEstimate),
    calls: next,
  };
}

type EmbeddedPart = {
  readonly vectors: readonly Vector[];
  readonly tokens: number;
  readonly isEstimate: boolean;
};

/** Throws UpstreamBroken. */
async function embedPart(
  { chosen, host }: TaskRoute<EmbeddingHost>,
  { gateway, caller, model, request, sending }: Calling<EmbeddingRequest>,
  inputs: readonly EmbeddingInput[],
): Promise<EmbeddedPart> {
  if (chosen.isSandbox) {
    const { clock } = gateway;
    const size = request.dimensions ?? model.dimensions?.default ?? sandboxSize;
    const { signal } = sending;
    const { vectors, tokens } = await embedInSandbox({ inputs, dimensions: size, signal, clock });
    return { vectors, tokens: tokens!, isEstimate: false };
  }
  const job = jobOf(chosen, { gateway, caller, request }, inputs);
  const { body, inputTokens } = await sendTask(sending, host.write(job));
  const read = host.read(body, job);
  const vectors = read && fitSize(read.vectors, request, model);
  if (!vectors || vectors.length !== inputs.length)
    throw unreadable('the answer does not have a vector of that size for each input');
  // Some servers count 0 for all they do.
  const tokens = read.tokens || inputTokens || null;
  return { vectors, tokens: tokens ?? countOf(inputs), isEstimate: tokens === null };
}

type Asked = Pick<Calling<EmbeddingRequest>, 'gateway' | 'caller' | 'request'>;

/** A number of a vector as text, at most. */
const writtenNumberBytes = 25;
/** For models whose size is unknown. */
const largestSize = 4_096;

/** Returns the numbers of a vector, at most. */
export function sizeOfVector({ dimensions }: EmbeddingRequest, model: Model): number {
  return dimensions ?? model.dimensions?.default ?? largestSize;
}

/**
 * Returns the call of a request that needs only one, for a batch; null: it needs several, or its
 * result may be longer than a line that is read.
 */
export function embeddingCall(
  { chosen, host }: TaskRoute<EmbeddingHost>,
  { model, ...asked }: Asked & { readonly model: Model },
) {
  const { inputs: all } = asked.request;
  const size = sizeOfVector(asked.request, model);
  const [inputs, ...others] = splitInputs(all, host);
  return others.length > 0 || all.length * size * writtenNumberBytes > resultBytesMax
    ? null
    : { ...host.write(jobOf(chosen, asked, inputs!)), inputs: all.length };
}

function jobOf(
  { upstreamModel, provider: { place } }: ChosenRoute,
  { gateway, caller, request }: Asked,
  inputs: readonly EmbeddingInput[],
): EmbeddingJob {
  const user = request.user && digestOf(gateway, caller.key.accountId, request.user);
  const { dimensions, purpose, encoding } = request;
  return { upstreamModel, place, inputs, dimensions, purpose, encoding, user };
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
  const sizes = new Set(vectors.map(({ length }) => length));
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
