// A stream's hold grows with its answer, slice by slice: so many streams fit a small balance, and none spends what is not held. When no
// slice is granted, the answer ends as at its length limit.
import { worstCaseOf, type Hold } from './hold.ts';
import { ledgerIdOf } from '../ledger/commands.ts';
import type { CancelTimer, Clock } from '../lib/clock.ts';
import { micros } from '../lib/money.ts';
import type { Running } from './running.ts';

/** Fewer bytes than this make a token in hardly any language; numbers and base64 come near it. */
const bytesPerTokenMin = 2;

export class HoldGrowth {
  /** Whether nothing more was granted when more was needed. */
  isRefused = false;
  readonly #running: Running;
  readonly #hold: Hold;
  readonly #sliceTokens: number;
  /** Output tokens of each choice that the hold pays for. */
  #coveredTokens: number;
  #amountMicros: number;
  #parts = 0;
  #asking: Promise<boolean> | null = null;
  /** What was covered when a slice was refused ahead of need: it is asked for again when that is used up, since others may have given back theirs. */
  #refusedAtTokens = -1;

  constructor(running: Running) {
    const { hold, gateway } = running;
    this.#running = running;
    this.#hold = hold;
    this.#sliceTokens = gateway.config.limits.hold_slice_tokens;
    this.#coveredTokens = hold.coveredTokens;
    this.#amountMicros = hold.amountMicros;
  }

  /**
   * To be called as the answer grows. Returns nothing while the hold covers it, a promise when the answer has to wait for a slice: true
   * when it was granted, false when the answer must end here.
   */
  cover(outputBytes: number): Promise<boolean> | void {
    if (this.#coveredTokens >= this.#hold.maxOutputTokens) return;
    const tokens = this.#tokensSoFar(outputBytes);
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

  /** The most that one choice can have used, by what was seen of it and by the time in which nothing was. */
  #tokensSoFar(outputBytes: number): number {
    const { request, unseen } = this.#running;
    return outputBytes / bytesPerTokenMin / request.choices + unseen.tokens;
  }

  async #extend(tokens: number): Promise<boolean> {
    const { gateway, key } = this.#running;
    const wanted = Math.ceil(Math.max(this.#coveredTokens, tokens)) + this.#sliceTokens;
    const coveredTokens = Math.min(wanted, this.#hold.maxOutputTokens);
    const amountMicros = worstCaseOf(this.#hold.request, coveredTokens);
    try {
      const outcome = await gateway.ledger.submit({
        type: 'extend',
        holdId: this.#hold.id,
        part: this.#parts + 1,
        ledgerId: ledgerIdOf(key.accountId, key.mode),
        keyId: key.id,
        amountMicros: micros(amountMicros - this.#amountMicros),
      });
      if (outcome.type !== 'held') {
        this.#refusedAtTokens = this.#coveredTokens;
        return false;
      }
      this.#parts += 1;
      this.#coveredTokens = coveredTokens;
      this.#amountMicros = amountMicros;
      this.#running.trace.holdMicros = amountMicros;
      return true;
    } catch (err) {
      gateway.log.error({ err, request_id: this.#running.requestId }, 'a hold could not be extended: its answer ends');
      return false;
    } finally {
      this.#asking = null;
    }
  }
}

type Watched = {
  readonly outputBytes: () => number;
  /** The answer must end, although nothing has come that would show it. */
  readonly onRefused: () => void;
};

const watchMs = 1_000;

/** Looks after the holds of streams that say nothing while their model thinks: one timer for all of them. */
export class HoldGrowths {
  readonly #watched = new Map<HoldGrowth, Watched>();
  readonly #stopWatching: CancelTimer;

  constructor(clock: Clock) {
    this.#stopWatching = clock.every(watchMs, () => this.#look());
  }

  /** Returns what ends the watch. */
  watch(growth: HoldGrowth, watched: Watched): () => void {
    this.#watched.set(growth, watched);
    return () => this.#watched.delete(growth);
  }

  close(): void {
    this.#stopWatching();
  }

  #look(): void {
    for (const [growth, { outputBytes, onRefused }] of this.#watched) {
      const granted = growth.cover(outputBytes());
      if (granted) void this.#endIfRefused(growth, granted, onRefused);
    }
  }

  async #endIfRefused(growth: HoldGrowth, granted: Promise<boolean>, end: () => void): Promise<void> {
    if (!(await granted) && this.#watched.has(growth)) end();
  }
}
