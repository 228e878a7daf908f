// Grows a stream's hold with its answer, slice by slice: many streams fit a small balance, and none
// spends what is not held. When a slice is refused, the answer ends as at its length limit.
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import { ActiveSet } from '../../lib/active-set.ts';
import type { OpenHold } from './open-hold.ts';
import type { UnseenOutput } from './unseen-output.ts';
import { worstCaseOf, type Granted } from './worst-case.ts';

/**
 * The fewest bytes that a token is counted as. Few languages have less; numbers and base64 come
 * close.
 */
const bytesPerTokenMin = 2;

export class HoldGrowth {
  /** True when more was needed and refused. */
  isRefused = false;
  readonly #hold: OpenHold;
  readonly #granted: Granted;
  readonly #sliceTokens: number;
  /** Output tokens of each choice that the hold covers. */
  #coveredTokens: number;
  #asking: Promise<boolean> | null = null;
  /**
   * The covered tokens when a slice was refused ahead of need. When they are used up the slice is
   * asked for again, because other requests may have released their holds.
   */
  #refusedAtTokens = -1;

  constructor(hold: OpenHold, granted: Granted) {
    this.#hold = hold;
    this.#granted = granted;
    this.#sliceTokens = granted.wanted.gateway.config.limits.hold_slice_tokens;
    this.#coveredTokens = granted.coveredTokens;
  }

  /**
   * Call as the answer grows. Returns undefined while the hold covers it. Otherwise the answer must
   * wait for the promise: true when a slice is granted, false when the answer must end here.
   */
  cover(outputBytes: number, unseen: UnseenTokens): Promise<boolean> | void {
    if (this.#coveredTokens >= this.#granted.maxOutputTokens) return;
    // The most tokens that one choice can have used: the visible ones, or those that the provider has
    // counted and what came since, and an estimate for its silences.
    const { counted } = unseen;
    const since = (outputBytes - counted.bytes) / bytesPerTokenMin;
    const used = Math.max(outputBytes / bytesPerTokenMin, counted.tokens + since);
    const tokens = used / this.#granted.wanted.request.choices + unseen.tokens;
    const isUsedUp = tokens >= this.#coveredTokens;
    if (!isUsedUp && tokens + this.#sliceTokens / 2 < this.#coveredTokens) return;
    if (!isUsedUp && this.#refusedAtTokens === this.#coveredTokens) return;
    this.#asking ??= this.#extend(tokens);
    if (!isUsedUp) return;
    return this.#asking.then((isGranted) => {
      this.isRefused = !isGranted;
      return isGranted;
    });
  }

  async #extend(tokens: number): Promise<boolean> {
    const { maxOutputTokens, wanted } = this.#granted;
    const neededTokens = Math.ceil(Math.max(this.#coveredTokens, tokens)) + this.#sliceTokens;
    const coveredTokens = Math.min(neededTokens, maxOutputTokens);
    const outcome = await this.#hold.extendTo(worstCaseOf(wanted, coveredTokens));
    this.#asking = null;
    if (outcome === 'refused') this.#refusedAtTokens = this.#coveredTokens;
    if (outcome === 'held') this.#coveredTokens = coveredTokens;
    return outcome === 'held';
  }
}

type UnseenTokens = Pick<UnseenOutput, 'tokens' | 'counted'>;

type Watch = {
  readonly outputBytes: () => number;
  readonly unseen: UnseenTokens;
  /** Called when the answer must end although nothing arrived. */
  readonly onRefused: () => void;
};

type Watched = Watch & { readonly growth: HoldGrowth; hasEnded: boolean };

const watchMs = 1_000;

/** Grows the holds of streams that are silent while their model thinks: one timer for all. */
export class HoldGrowths {
  readonly #watched = new ActiveSet<Watched>();
  readonly #stopWatching: CancelTimer;

  constructor(clock: Clock) {
    this.#stopWatching = clock.every(watchMs, () => this.#look());
  }

  /** Returns a function that ends the watch. */
  watch(growth: HoldGrowth, watch: Watch): () => void {
    const watched = { growth, ...watch, hasEnded: false };
    const remove = this.#watched.add(watched);
    return () => {
      watched.hasEnded = true;
      remove();
    };
  }

  close(): void {
    this.#stopWatching();
  }

  #look(): void {
    for (const watched of this.#watched.members()) {
      const granted = watched.growth.cover(watched.outputBytes(), watched.unseen);
      if (granted) void endIfRefused(watched, granted);
    }
  }
}

async function endIfRefused(watched: Watched, granted: Promise<boolean>): Promise<void> {
  if (!(await granted) && !watched.hasEnded) watched.onRefused();
}
