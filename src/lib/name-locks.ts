// Locks on names between the threads of a process: one thread keeps the book, the others ask it.
// Within a thread, at most one caller asks for a name at a time.

/** The other threads, for one of them. */
export type NameLocks = {
  /**
   * Resolves when no other thread holds the name, with the function that gives it back; with null
   * when the signal aborts first. `onAwaited`: called when another thread begins to wait for the
   * name, and when none waits any more.
   */
  readonly take: (
    name: string,
    options: { readonly signal: AbortSignal; readonly onAwaited: (isAwaited: boolean) => void },
  ) => Promise<(() => void) | null>;
};

/** For a process with one thread. */
export const noOtherThreads: NameLocks = { take: async () => () => {} };

/** One attempt of a thread to take a name. `ticket`: differs in each attempt of the thread. */
type Attempt<Thread> = { readonly thread: Thread; readonly ticket: number };
type Waiting<Thread> = Attempt<Thread> & { readonly resolve: (isTaken: boolean) => void };
type Line<Thread> = { holder: Attempt<Thread>; readonly waiting: Waiting<Thread>[] };

/** The book of all names. `Thread`: identifies a thread. */
export class NameLockBook<Thread> {
  readonly #lines = new Map<string, Line<Thread>>();
  readonly #onAwaited: (holder: Attempt<Thread>, isAwaited: boolean) => void;

  /** `onAwaited`: another thread begins to wait for a name that is held, or none waits any more. */
  constructor(onAwaited: (holder: Attempt<Thread>, isAwaited: boolean) => void) {
    this.#onAwaited = onAwaited;
  }

  /** Resolves with true when the thread holds the name; with false when it left the line. */
  take(thread: Thread, name: string, ticket: number): Promise<boolean> {
    const line = this.#lines.get(name);
    if (!line) {
      this.#lines.set(name, { holder: { thread, ticket }, waiting: [] });
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      line.waiting.push({ thread, ticket, resolve });
      if (line.waiting.length === 1) this.#onAwaited(line.holder, true);
    });
  }

  /** Ends a wait. Does nothing when the thread holds the name by now. */
  leave(thread: Thread, name: string, ticket: number): void {
    const line = this.#lines.get(name);
    const index =
      line?.waiting.findIndex((one) => one.thread === thread && one.ticket === ticket) ?? -1;
    if (!line || index === -1) return;
    line.waiting.splice(index, 1)[0]!.resolve(false);
    if (line.waiting.length === 0) this.#onAwaited(line.holder, false);
  }

  /** Gives the name to the thread that has waited longest. */
  giveBack(name: string): void {
    const line = this.#lines.get(name)!;
    const next = line.waiting.shift();
    if (!next) return void this.#lines.delete(name);
    line.holder = next;
    next.resolve(true);
    if (line.waiting.length > 0) this.#onAwaited(line.holder, true);
  }
}

/** How a thread reaches the book. */
type LockQuery = {
  readonly take: (name: string, ticket: number) => Promise<boolean>;
  readonly leave: (name: string, ticket: number) => void;
  readonly giveBack: (name: string) => void;
};

/** The locks as one thread takes them. Pass `noteAwaited` what the book reports. */
export class ConnectedNameLocks implements NameLocks {
  readonly #asked: LockQuery;
  /** By ticket. */
  readonly #held = new Map<number, (isAwaited: boolean) => void>();
  #lastTicket = 0;

  constructor(asked: LockQuery) {
    this.#asked = asked;
  }

  take: NameLocks['take'] = async (name, { signal, onAwaited }) => {
    const ticket = ++this.#lastTicket;
    // Before the name is held, because the book may report a waiting thread right after it.
    this.#held.set(ticket, onAwaited);
    const leave = () => this.#asked.leave(name, ticket);
    signal.addEventListener('abort', leave, { once: true });
    const isTaken = await this.#asked.take(name, ticket);
    signal.removeEventListener('abort', leave);
    const giveBack = () => {
      this.#held.delete(ticket);
      this.#asked.giveBack(name);
    };
    if (isTaken && !signal.aborted) return giveBack;
    if (isTaken) giveBack();
    else this.#held.delete(ticket);
    return null;
  };

  /** Does nothing when the name was given back meanwhile. */
  noteAwaited(ticket: number, isAwaited: boolean): void {
    this.#held.get(ticket)?.(isAwaited);
  }
}
