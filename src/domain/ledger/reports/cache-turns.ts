// Says of each charge what was read from the provider's cache, what could have been, and why it was
// not. Nothing was kept for this: it follows from the charges of a conversation in order of time. A
// conversation may have several threads, such as an agent and its helpers, whose prompts grow apart.
import { totalInputTokens, type Usage } from '../../../canonical/usage.ts';
import { costOf, type UnitPrices } from '../../../terms/price-terms.ts';
import { cacheStepTokens, promptCacheOf, type MissReason } from '../../../terms/prompt-cache.ts';
import { hourMs } from '../../../lib/utc-time.ts';
import type { Charge } from '../book.ts';

export type CacheTurn = {
  readonly charge: Charge;
  /** The account's prices, by the price terms of the charge. */
  readonly prices: UnitPrices;
  /** The id of the model at its provider, or the nearest known. */
  readonly upstreamModel: string;
};

/** The counts that a report sums, by their names in the APIs. */
export const cacheCounts = [
  'requests',
  /** Read, missed and new tokens together. */
  'input_tokens',
  'read_tokens',
  'new_tokens',
  'cost_micros',
  /** The cost without a cache, less the cost: negative when more was written than read. */
  'saved_micros',
  /** The same, of requests that Tollgate marked. */
  'saved_by_marks_micros',
  /** What staying on one of several routes probably saved, at least 0. */
  'saved_by_affinity_micros',
] as const;
export type CacheCounts = Record<(typeof cacheCounts)[number], number>;

export type ExplainedTurn = Readonly<CacheCounts> & {
  readonly charge: Charge;
  readonly missed: {
    /** 1 for the first turn of the conversation that was given. */
    readonly turn: number;
    readonly reason: MissReason;
    readonly tokens: number;
    /** The cost of these tokens beyond their price when read; 0 on a first turn. */
    readonly cost_micros: number;
  } | null;
};

/** The last turn of a thread. */
type Head = CacheTurn & {
  readonly promptTokens: number;
  /** The prompt's tokens that the provider's cache holds afterwards, and for how long. */
  readonly keptTokens: number;
  readonly keptMs: number;
  /** The tokens that the cache of a route chosen by chance would hold, on average. */
  readonly scatteredTokens: number;
};

/** Older threads of a conversation are forgotten. */
const headsMax = 16;

/** `turns`: in order of time. Those without a conversation are left out. */
export function* explainTurns(turns: readonly CacheTurn[]): Generator<ExplainedTurn, void> {
  const conversations = new Map<string, { turns: number; readonly heads: Head[] }>();
  for (const turn of turns) {
    const { conversation: name } = turn.charge;
    if (!name) continue;
    const conversation = conversations.get(name) ?? { turns: 0, heads: [] };
    conversations.set(name, conversation);
    conversation.turns += 1;
    yield explain(turn, conversation.turns, conversation.heads);
  }
}

function explain(turn: CacheTurn, number: number, heads: Head[]): ExplainedTurn {
  const { charge, prices } = turn;
  const { usage, cacheMarks, rankRoutes } = charge;
  const [input, read] = [totalInputTokens(usage), usage.cacheReadTokens];
  const before = findBefore(heads, input, read);
  if (before) heads.splice(heads.indexOf(before), 1);
  const scattered = Math.min(before?.scatteredTokens ?? read, read);
  heads.push(headOf(turn, before, scattered));
  if (heads.length > headsMax) heads.shift();
  const cost = (changed: Partial<Usage> = {}) =>
    costOf(prices, { usage: { ...usage, ...changed }, searches: 0, images: 0 });
  const { reason, tokens } = missOf(turn, before);
  const none = { cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
  const saved = cost({ ...none, inputTokens: input }) - cost();
  const avoidable = reason === 'first-turn' ? 0 : cost() - cost(ifRead(usage, tokens));
  // A marked prompt would have been written again.
  const place = cacheMarks ? 'cacheWriteTokens' : 'inputTokens';
  const unread = rankRoutes ? read - Math.floor(scattered) : 0;
  const apart = cost({ cacheReadTokens: read - unread, [place]: usage[place] + unread }) - cost();
  return {
    charge,
    requests: 1,
    input_tokens: input,
    read_tokens: read,
    new_tokens: input - read - tokens,
    cost_micros: charge.costMicros,
    saved_micros: saved,
    saved_by_marks_micros: cacheMarks === 'gateway' ? saved : 0,
    saved_by_affinity_micros: Math.max(apart, 0),
    missed: reason && { turn: number, reason, tokens, cost_micros: Math.max(avoidable, 0) },
  };
}

/**
 * Returns the turn that this one goes on from: the one that was read exactly, else the one of the
 * nearest length. A prompt of less than half the length begins something else.
 */
function findBefore(heads: readonly Head[], input: number, read: number): Head | null {
  const isExact = ({ keptTokens }: Head) => Math.abs(keptTokens - read) <= cacheStepTokens;
  const distance = ({ promptTokens }: Head) => Math.abs(Math.log(promptTokens / input));
  const near = heads.filter(({ promptTokens }) => promptTokens <= 2 * input);
  const nearest = near.toSorted((one, other) => distance(one) - distance(other))[0];
  return (read > 0 ? heads.findLast(isExact) : undefined) ?? nearest ?? null;
}

function missOf({ charge }: CacheTurn, before: Head | null) {
  const { cacheReadTokens: read } = charge.usage;
  const input = totalInputTokens(charge.usage);
  if (!before) return { reason: 'first-turn', tokens: input - read } as const;
  const tokens = Math.min(before.promptTokens, input) - read;
  if (tokens <= cacheStepTokens) return { reason: null, tokens: 0 };
  return { reason: reasonOf(charge, before), tokens };
}

function reasonOf(charge: Charge, before: Head): MissReason {
  const { charge: earlier, upstreamModel, promptTokens, keptTokens, keptMs } = before;
  if (promptTokens < promptCacheOf(upstreamModel).tokensMin) return 'below-minimum';
  if (charge.cacheMarks === 'none' || earlier.cacheMarks === 'none') return 'unmarked';
  if (charge.provider !== earlier.provider) return 'other-route';
  if (beginOf(charge) - beginOf(earlier) > keptMs) return 'expired';
  return charge.usage.cacheReadTokens < keptTokens - cacheStepTokens ? 'changed' : 'unmarked';
}

/** Providers count from the beginning of a request. */
function beginOf({ createdAtMs, durationMs }: Charge): number {
  return createdAtMs - (durationMs ?? 0);
}

/**
 * On routes chosen by chance, each has what it was last sent: one in `rankRoutes` has this prompt,
 * the others what they had.
 */
function headOf(turn: CacheTurn, before: Head | null, scattered: number): Head {
  const { usage, cacheMarks, rankRoutes } = turn.charge;
  const promptTokens = totalInputTokens(usage);
  const share = 1 / (rankRoutes ?? 1);
  const isLong = usage.cacheWrite1hTokens > 0 || before?.keptMs === hourMs;
  return {
    ...turn,
    promptTokens,
    keptTokens: cacheMarks ? promptTokens - usage.inputTokens : promptTokens,
    keptMs: isLong ? hourMs : promptCacheOf(turn.upstreamModel).keptMs,
    scatteredTokens: promptTokens * share + scattered * (1 - share),
  };
}

/** Returns the input if these tokens had been read. What is marked for an hour stands first. */
function ifRead(usage: Usage, tokens: number): Partial<Usage> {
  const long = Math.min(tokens, usage.cacheWrite1hTokens);
  const short = Math.min(tokens - long, usage.cacheWriteTokens);
  return {
    cacheReadTokens: usage.cacheReadTokens + tokens,
    cacheWrite1hTokens: usage.cacheWrite1hTokens - long,
    cacheWriteTokens: usage.cacheWriteTokens - short,
    inputTokens: usage.inputTokens - (tokens - long - short),
  };
}
