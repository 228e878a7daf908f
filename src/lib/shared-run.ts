// Single-flight: callers that want the same result wait for one run, until it ends or they abort.

export class SharedRun<Result> {
  readonly #waiting = new Set<(result: Result | null) => void>();
  readonly #onWaitersGone: (() => void)[] = [];
  #end: { readonly result: Result | null } | null = null;

  get waiters(): number {
    return this.#waiting.size;
  }

  /** Calls back each time the last waiting caller aborts, but not when the run ends. */
  onWaitersGone(callback: () => void): void {
    this.#onWaitersGone.push(callback);
  }

  /** Ends the run. null means that it failed; waiting callers then try again. */
  end(result: Result | null): void {
    this.#end ??= { result };
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const tell of waiting) tell(this.#end.result);
  }

  /** Resolves with the result, or with null when the run failed or the signal aborted first. */
  wait(signal: AbortSignal): Promise<Result | null> {
    if (this.#end) return Promise.resolve(this.#end.result);
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const giveUp = () => {
        this.#waiting.delete(tell);
        resolve(null);
        if (this.#waiting.size === 0) for (const callback of this.#onWaitersGone) callback();
      };
      const tell = (result: Result | null) => {
        signal.removeEventListener('abort', giveUp);
        resolve(result);
      };
      this.#waiting.add(tell);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
