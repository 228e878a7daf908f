// The requests that run at this moment: what a shutdown waits for, and ends when the time is up.

export class ActiveRuns {
  readonly #controllers = new Set<AbortController>();
  #isEnding = false;
  #onIdle: (() => void) | null = null;

  /** Counts a run in. Its controller's signal stops the upstream: when the client has left, or at the end of a shutdown. */
  open(): AbortController {
    const controller = new AbortController();
    this.#controllers.add(controller);
    return controller;
  }

  close(controller: AbortController): void {
    this.#controllers.delete(controller);
    if (this.#controllers.size === 0) this.#onIdle?.();
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
    if (this.#controllers.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#onIdle = null;
  }
}
