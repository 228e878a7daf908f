// The requests that run at this moment: what a shutdown waits for, and ends when the time is up.
import type { Clock } from '../lib/clock.ts';

export class ActiveRuns {
  readonly #clock: Clock;
  readonly #controllers = new Set<AbortController>();
  #entered = 0;
  #isEnding = false;
  #onIdle: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a request in that has been accepted, before anything of it runs. Returns what counts it out, to be called once. */
  enter(): () => void {
    this.#entered += 1;
    return () => {
      this.#entered -= 1;
      this.#tellIfIdle();
    };
  }

  /** Counts a run in. Its controller's signal stops the upstream: when the client has left, or at the end of a shutdown. */
  open(): AbortController {
    const controller = new AbortController();
    if (this.#isEnding) controller.abort();
    this.#controllers.add(controller);
    return controller;
  }

  close(controller: AbortController): void {
    this.#controllers.delete(controller);
    this.#tellIfIdle();
  }

  get count(): number {
    return this.#controllers.size;
  }

  /** Whether runs are being ended because the program stops: they are free then. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  endAll(): void {
    this.#isEnding = true;
    for (const controller of this.#controllers) controller.abort();
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
    return this.#entered === 0 && this.#controllers.size === 0;
  }

  #tellIfIdle(): void {
    if (this.#isIdle) this.#onIdle?.();
  }
}
