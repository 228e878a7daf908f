// One run as the others wait for it that want the same: each until the run has ended, or until it gives up by itself.

export class Turn<Result> {
  readonly #waiting = new Set<(result: Result | null) => void>();
  readonly #onWaitersGone: (() => void)[] = [];
  #end: { readonly result: Result | null } | null = null;

  /** How many wait now. */
  get waiters(): number {
    return this.#waiting.size;
  }

  /** Called each time that the last of those that wait has given up, and never by the end. */
  onWaitersGone(callback: () => void): void {
    this.#onWaitersGone.push(callback);
  }

  /** With what there is for those that wait; null: it failed, and the next one runs. */
  end(result: Result | null): void {
    this.#end ??= { result };
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const tell of waiting) tell(this.#end.result);
  }

  /** The result of a success; null when it failed, or the signal came first. */
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
