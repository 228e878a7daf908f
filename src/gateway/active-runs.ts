// Tracks the running requests: a shutdown waits for them and aborts them when its time is up.
import type { ApiError } from '../canonical/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { ActiveSet } from '../lib/active-set.ts';
import type { ImageBytes } from '../lib/image.ts';
import type { Mode } from '../terms/mode.ts';
import { isAwaited, onAbandoned, type Audience } from './audience.ts';

/**
 * Time to keep reading an upstream for its usage after the last reader left or got all it will get.
 */
export const readOnMs = 5_000;

export class ActiveRuns {
  readonly #clock: Clock;
  readonly #runs = new ActiveSet<Run>();
  /** Runs under a hold. Other runs wait, or count tokens. */
  readonly #held = { live: new ActiveSet<Run>(), test: new ActiveSet<Run>() };
  #entered = 0;
  #isEnding = false;
  #onIdle: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts an accepted request before it runs. Call the returned function once, when it ends. */
  enter(): () => void {
    this.#entered += 1;
    return () => {
      this.#entered -= 1;
      this.#noteIfIdle();
    };
  }

  /**
   * Opens a run. `held`: the mode of its hold. The end of a shutdown stops it; a held test can be
   * stopped before.
   */
  open(held: Mode | null = null): Run {
    const run = new Run(this.#clock, () => {
      leave();
      leaveHeld?.();
      this.#noteIfIdle();
    });
    if (this.#isEnding) run.stop();
    const leave = this.#runs.add(run);
    const leaveHeld = held && this.#held[held].add(run);
    return run;
  }

  get count(): number {
    return this.#runs.size;
  }

  /** The number of runs of live keys under a hold. */
  get liveCount(): number {
    return this.#held.live.size;
  }

  /** True while runs are aborted because the program stops. Aborted runs are free. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Ends all tests under a hold, each with an error of its own. */
  stopTests(error: () => ApiError): void {
    for (const run of this.#held.test.members()) run.stop(error());
  }

  endAll(): void {
    this.#isEnding = true;
    for (const run of this.#runs.members()) run.stop();
  }

  /** Resolves when nothing runs, or after `timeoutMs`. */
  async whenIdle(timeoutMs: number): Promise<void> {
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(timeoutMs, resolve);
      this.#onIdle = () => {
        cancel();
        resolve();
      };
    });
    this.#onIdle = null;
  }

  get #isIdle(): boolean {
    return this.#entered === 0 && this.#runs.size === 0;
  }

  #noteIfIdle(): void {
    if (this.#isIdle) this.#onIdle?.();
  }
}

/** A running request and its stop signals. */
export class Run {
  readonly #clock: Clock;
  readonly #onClose: (() => void)[];
  readonly #running = new AbortController();
  readonly #waiting = new AbortController();
  /** Aborted when the run is stopped, at the latest when the program ends. */
  readonly running = this.#running.signal;
  /** Aborted with `running`, and also some seconds after the last reader has left. */
  readonly waiting = this.#waiting.signal;
  /** True when `waiting` was aborted because nobody waited any more. */
  isAbandoned = false;
  /** The error of a request that was stopped for others; null: it was not. */
  stoppedBy: ApiError | null = null;
  /** Images that it has fetched for its calls, by address. */
  readonly fetched = new Map<string, ImageBytes>();
  #call: HidingCall | null = null;

  constructor(clock: Clock, onClose: () => void) {
    this.#clock = clock;
    this.#onClose = [onClose];
  }

  whenClosed(callback: () => void): void {
    this.#onClose.push(callback);
  }

  close(): void {
    for (const callback of this.#onClose) callback();
  }

  stop(error: ApiError | null = null): void {
    this.stoppedBy ??= error;
    this.#running.abort();
    this.#waiting.abort();
  }

  /** Notes the call that is under way. */
  follow(call: HidingCall): void {
    this.#call = call;
  }

  /**
   * Aborts `waiting` some seconds after nobody waits any more, unless somebody waits again by then.
   * While the call's output is hidden it is read on, because only its end shows what it costs.
   */
  watch(audience: Audience): void {
    onAbandoned(audience, () => this.#stopLater(audience));
  }

  #stopLater(audience: Audience): void {
    const cancel = this.#clock.after(readOnMs, () => {
      this.waiting.removeEventListener('abort', cancel);
      if (isAwaited(audience)) return;
      if (this.#call?.isHidden) return this.#stopLater(audience);
      this.isAbandoned = true;
      this.#waiting.abort();
    });
    this.waiting.addEventListener('abort', cancel, { once: true });
  }
}

type HidingCall = { readonly isHidden: boolean };
