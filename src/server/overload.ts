// Whether the process has more work than it can do well. New charged requests are refused then, so that those under way do not suffer.
// Late is judged as CoDel judges a queue (https://queue.acm.org/detail.cfm?id=2209336): by the least of the last few measurements. One
// long turn of the event loop, for a large body or the garbage collector, is over when it is noticed; a queue that never empties is not.
import { totalmem } from 'node:os';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ApiError } from '../canonical/errors.ts';
import type { CancelTimer, Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';

export type OverloadReason = 'lag' | 'memory';

export type Sample = {
  /** How much later than asked for a timer fired. */
  readonly lagMs: number;
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  /** The heap and the buffers beside it: what is freed leaves it at once, while the system is given its pages back late or never. */
  readonly inUseBytes: number;
};

export type Bounds = { readonly lagMs: number; readonly memoryBytes: number; readonly heapBytes: number };

const sampleMs = 100;
export const samplesKept = 5;
/** What a process that holds much of the bound must still have in use to be called full. */
const inUsePart = 0.7;
/** Memory must fall this far below the bound before new work is taken again, and lag to its half. */
const memoryCalm = 0.9;
const lagCalm = 0.5;
/** Node ends the process at its heap's limit; nothing of the configuration moves that. */
const heapPart = 0.85;
const memoryPart = 0.85;

/** The next state, from the one before and the last samples, oldest first. Pure. */
export function judge(before: OverloadReason | null, samples: readonly Sample[], bounds: Bounds): OverloadReason | null {
  const last = samples.at(-1);
  if (last && isFull(last, bounds, before === 'memory' ? memoryCalm : 1)) return 'memory';
  const lags = samples.map(({ lagMs }) => lagMs);
  if (lags.length >= samplesKept && Math.min(...lags) >= bounds.lagMs) return 'lag';
  if (before === 'lag' && Math.max(...lags) >= bounds.lagMs * lagCalm) return 'lag';
  return null;
}

function isFull({ rssBytes, heapUsedBytes, inUseBytes }: Sample, { memoryBytes, heapBytes }: Bounds, part: number): boolean {
  if (heapUsedBytes >= heapBytes * part) return true;
  return rssBytes >= memoryBytes * part && inUseBytes >= memoryBytes * inUsePart * part;
}

export type OverloadOptions = {
  /** null: however late. */
  readonly lagMs: number | null;
  /** null: most of what the machine or the container has. */
  readonly memoryBytes: number | null;
};

/** The most memory that a process may use here, as configured or by what there is. */
function memoryBoundBytes(configured: number | null): number {
  // Zero or an absurd number where nothing constrains the process.
  const constrained = process.constrainedMemory();
  return configured ?? memoryPart * Math.min(constrained > 0 ? constrained : Infinity, totalmem());
}

/** What one use of memory may take at most: as configured, or an eighth of the bound, but never less than `leastBytes`. */
export function memoryShareBytes(configured: number | null, memoryBytes: number | null, leastBytes = 0): number {
  return configured ?? Math.max(memoryBoundBytes(memoryBytes) / 8, leastBytes);
}

export class Overload {
  readonly #bounds: Bounds;
  readonly #log: Logger;
  readonly #samples: Sample[] = [];
  readonly #clock: Clock;
  readonly #stopLooking: CancelTimer;
  #reason: OverloadReason | null = null;
  #sinceMs = 0;
  #lastMs: number;
  #collectedMs = -Infinity;

  constructor({ lagMs, memoryBytes }: OverloadOptions, { log, clock }: { log: Logger; clock: Clock }) {
    this.#bounds = {
      lagMs: lagMs ?? Infinity,
      memoryBytes: memoryBoundBytes(memoryBytes),
      heapBytes: heapPart * getHeapStatistics().heap_size_limit,
    };
    this.#log = log;
    this.#clock = clock;
    this.#lastMs = clock.elapsedMs();
    this.#stopLooking = clock.every(sampleMs, () => this.#look());
  }

  /** null: all is well. */
  get reason(): OverloadReason | null {
    return this.#reason;
  }

  /** How long it has lasted without a break. */
  get lastsMs(): number {
    return this.#reason === null ? 0 : this.#clock.elapsedMs() - this.#sinceMs;
  }

  close(): void {
    this.#stopLooking();
  }

  #look(): void {
    if (this.#samples.length === samplesKept) this.#samples.shift();
    this.#samples.push(this.#measure());
    const reason = judge(this.#reason, this.#samples, this.#bounds);
    if (reason === 'memory') this.#collect();
    if (reason === this.#reason) return;
    this.#tell(reason);
    if (this.#reason === null) this.#sinceMs = this.#clock.elapsedMs();
    this.#reason = reason;
  }

  #measure(): Sample {
    const nowMs = this.#clock.elapsedMs();
    const lagMs = nowMs - this.#lastMs - sampleMs;
    this.#lastMs = nowMs;
    const { rss, heapUsed, external } = process.memoryUsage();
    return { lagMs, rssBytes: rss, heapUsedBytes: heapUsed, inUseBytes: heapUsed + external };
  }

  /** A process that refuses all work allocates too little for V8 to look for what it could free: measured, for more than a minute. */
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
      this.#log.info(fields, 'no longer overloaded: new requests are taken again');
    } else this.#log.warn({ ...measured, reason }, 'overloaded: new requests are refused until those under way have room');
  }
}

/** A collection of gigabytes takes a second or two, in which nothing else moves. */
const collectEveryMs = 5_000;
let exposed: (() => void) | null = null;

/** V8's collector is a function only in contexts that are made after its flag was set. */
function collectGarbage(): void {
  if (!exposed) {
    setFlagsFromString('--expose-gc');
    exposed = runInNewContext('gc') as () => void;
  }
  exposed();
}

const retryAfterSecondsMax = 3;

/** Clients obey `Retry-After` to the second: told the same, all that were refused together would come back together. */
export function overloaded(): ApiError {
  return new ApiError(
    'overloaded',
    'The gateway has more work than it can do at the moment. Nothing was charged; retry shortly.',
    {
      retryAfterSeconds: 1 + Math.floor(Math.random() * retryAfterSecondsMax),
    },
  );
}
