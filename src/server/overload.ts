// Detects overload. New charged requests are refused then, so that running ones do not suffer. Lag
// is judged like CoDel judges a queue (https://queue.acm.org/detail.cfm?id=2209336): by the
// smallest of the last few samples. One long turn of the event loop, for a large body or the
// garbage collector, is over when it is noticed. A queue that never empties is not.
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { ApiError } from '../canonical/errors.ts';
import type { CancelTimer, Clock } from '../lib/clock.ts';
import { collectGarbage } from '../lib/collect-garbage.ts';
import type { Logger } from '../lib/log.ts';

export type OverloadReason = 'lag' | 'memory';

export type Sample = {
  /** How late a timer fired. */
  readonly lagMs: number;
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  /**
   * Bytes of heap and buffers. Freed memory leaves this figure at once, while its pages return to
   * the system late or never.
   */
  readonly inUseBytes: number;
};

type Bounds = { readonly lagMs: number; readonly memoryBytes: number; readonly heapBytes: number };

const sampleMs = 100;
/** After so many samples without a new request nobody looks until the next one. */
const quietSamplesMax = 20;
export const samplesKept = 5;
/**
 * The part of the limit that must be in use before a process with much resident memory counts as
 * full.
 */
const inUsePart = 0.7;
/**
 * Memory must fall this far below its limit, and lag to its half, before new work is taken again.
 */
const memoryCalm = 0.9;
const lagCalm = 0.5;
/** Node ends the process at its heap limit; no setting of ours moves that. */
const heapPart = 0.85;
const memoryPart = 0.85;

/** Returns the next state from the previous one and the last samples, oldest first. Pure. */
export function judge(
  before: OverloadReason | null,
  samples: readonly Sample[],
  bounds: Bounds,
): OverloadReason | null {
  const last = samples.at(-1);
  if (last && isFull(last, bounds, before === 'memory' ? memoryCalm : 1)) return 'memory';
  const lags = samples.map(({ lagMs }) => lagMs);
  if (lags.length >= samplesKept && Math.min(...lags) >= bounds.lagMs) return 'lag';
  if (before === 'lag' && Math.max(...lags) >= bounds.lagMs * lagCalm) return 'lag';
  return null;
}

function isFull(
  { rssBytes, heapUsedBytes, inUseBytes }: Sample,
  { memoryBytes, heapBytes }: Bounds,
  part: number,
): boolean {
  if (heapUsedBytes >= heapBytes * part) return true;
  return rssBytes >= memoryBytes * part && inUseBytes >= memoryBytes * inUsePart * part;
}

type OverloadOptions = {
  /** null: no limit. */
  readonly lagMs: number | null;
  /** null: most of the memory of the machine or container. */
  readonly memoryBytes: number | null;
  /** Takes the memory that this thread uses, and returns that of all threads of the process. */
  readonly sumMemory: (ownBytes: number) => number;
  /** Called ten times a second while memory is full. */
  readonly onFull: () => void;
};

/** Returns the memory limit of this process: as configured, or by what the machine has. */
function memoryBoundBytes(configured: number | null): number {
  // Zero or an absurd number when nothing limits the process.
  const constrained = process.constrainedMemory();
  return configured ?? memoryPart * Math.min(constrained > 0 ? constrained : Infinity, totalmem());
}

type ShareOptions = {
  /** null: most of the memory of the machine or container. */
  readonly memoryBytes: number | null;
  /** The threads that divide the limit. */
  readonly threads: number;
  /** The least of a thread, when nothing is configured. */
  readonly leastBytes?: number;
};

/**
 * Returns a thread's part of the limit for one use of memory: of the configured limit, or of an
 * eighth of the process's.
 */
export function memoryShareBytes(
  configured: number | null,
  { memoryBytes, threads, leastBytes = 0 }: ShareOptions,
): number {
  if (configured !== null) return configured / threads;
  return Math.max(memoryBoundBytes(memoryBytes) / 8 / threads, leastBytes);
}

export class Overload {
  readonly #bounds: Bounds;
  readonly #log: Logger;
  readonly #sumMemory: OverloadOptions['sumMemory'];
  readonly #onFull: OverloadOptions['onFull'];
  readonly #samples: Sample[] = [];
  readonly #clock: Clock;
  /** null: nothing has arrived for a while, so nobody looks. */
  #stopLooking: CancelTimer | null = null;
  #quietSamples = 0;
  #reason: OverloadReason | null = null;
  #sinceMs = 0;
  #lastMs: number;
  #collectedMs = -Infinity;
  #memory = process.memoryUsage();

  constructor(
    { lagMs, memoryBytes, sumMemory, onFull }: OverloadOptions,
    { log, clock }: { log: Logger; clock: Clock },
  ) {
    this.#bounds = {
      lagMs: lagMs ?? Infinity,
      memoryBytes: memoryBoundBytes(memoryBytes),
      heapBytes: heapPart * getHeapStatistics().heap_size_limit,
    };
    this.#sumMemory = sumMemory;
    this.#onFull = onFull;
    this.#log = log;
    this.#clock = clock;
    this.#lastMs = clock.elapsedMs();
  }

  /** Call when work arrives. Returns the reason to refuse it; null: there is none. */
  judgeArrival(): OverloadReason | null {
    this.#quietSamples = 0;
    if (!this.#stopLooking) {
      this.#lastMs = this.#clock.elapsedMs() - sampleMs;
      this.#stopLooking = this.#clock.every(sampleMs, () => this.#lookWhileBusy());
      this.#look();
    }
    return this.#reason;
  }

  /** The reason for the overload; null when there is none. */
  get reason(): OverloadReason | null {
    return this.#reason;
  }

  /** How long the overload has lasted without a break. */
  get lastsMs(): number {
    return this.#reason === null ? 0 : this.#clock.elapsedMs() - this.#sinceMs;
  }

  close(): void {
    this.#stopLooking?.();
  }

  #lookWhileBusy(): void {
    this.#look();
    this.#quietSamples += 1;
    if (this.#reason !== null || this.#quietSamples < quietSamplesMax) return;
    this.#stopLooking?.();
    this.#stopLooking = null;
    this.#samples.length = 0;
  }

  #look(): void {
    if (this.#samples.length === samplesKept) this.#samples.shift();
    this.#samples.push(this.#measure());
    const reason = judge(this.#reason, this.#samples, this.#bounds);
    if (reason === 'memory') {
      this.#onFull();
      this.#collect();
    }
    if (reason === this.#reason) return;
    this.#tell(reason);
    if (this.#reason === null) this.#sinceMs = this.#clock.elapsedMs();
    this.#reason = reason;
  }

  #measure(): Sample {
    const nowMs = this.#clock.elapsedMs();
    const lagMs = nowMs - this.#lastMs - sampleMs;
    this.#lastMs = nowMs;
    const { rss, heapUsed, external } = this.#readMemory();
    const inUseBytes = this.#sumMemory(heapUsed + external);
    return { lagMs, rssBytes: rss, heapUsedBytes: heapUsed, inUseBytes };
  }

  /**
   * Returns the last figures while the process has no file descriptor left to read new ones: too
   * many connections must not end it.
   */
  #readMemory(): NodeJS.MemoryUsage {
    try {
      this.#memory = process.memoryUsage();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error;
    }
    return this.#memory;
  }

  /**
   * Forces a garbage collection. A process that refuses all work allocates so little that V8 did
   * not collect for more than a minute when measured.
   */
  #collect(): void {
    const nowMs = this.#clock.elapsedMs();
    if (nowMs - this.#collectedMs < collectEveryMs) return;
    this.#collectedMs = nowMs;
    collectGarbage();
    this.#lastMs = this.#clock.elapsedMs();
  }

  #tell(reason: OverloadReason | null): void {
    const { lagMs, rssBytes, heapUsedBytes, inUseBytes } = this.#samples.at(-1)!;
    const measured = {
      lag_ms: Math.round(lagMs),
      rss_bytes: rssBytes,
      heap_used_bytes: heapUsedBytes,
      in_use_bytes: inUseBytes,
    };
    if (reason === null) {
      const fields = { ...measured, lasted_ms: Math.round(this.lastsMs) };
      this.#log.info(fields, 'no longer overloaded: new requests are accepted again');
    } else
      this.#log.warn(
        { ...measured, reason },
        'overloaded: new requests are refused until the running ones have room',
      );
  }
}

/** A collection of gigabytes blocks everything for a second or two. */
const collectEveryMs = 5_000;

const retryAfterSecondsMax = 3;

/**
 * Returns the refusal with a random `Retry-After`. Clients obey it to the second, so with one value
 * everyone who was refused would come back at once.
 */
export function overloaded(): ApiError {
  return new ApiError(
    'overloaded',
    'The gateway has more work than it can do at the moment. Nothing was charged; retry shortly.',
    { retryAfterSeconds: 1 + Math.floor(Math.random() * retryAfterSecondsMax) },
  );
}
