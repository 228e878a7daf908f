// A bounded queue of written items and the one loop that sends them. A request only appends; when
// the receiver is slow or down, the queue fills and further items are dropped and counted.
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import type { Post, Posted } from './post.ts';

type QueueOptions = {
  readonly post: Post;
  /** Makes one body of items. */
  readonly wrap: (items: readonly string[]) => string;
  /** The most characters that wait. */
  readonly charactersMax: number;
  /** Called after each try that failed, and with null after one that succeeded. */
  readonly onResult: (problem: string | null, dropped: number) => void;
  readonly clock: Clock;
};

const sendEveryMs = 1_000;
const batchCharactersMax = 1024 * 1024;
const batchItemsMax = 512;
const triesMax = 5;
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

export class SendQueue {
  /** Items that were dropped: the queue was full, or the receiver refused them. */
  dropped = 0;
  readonly #options: QueueOptions;
  readonly #stopTimer: CancelTimer;
  #waiting: string[] = [];
  #characters = 0;
  #batch: { readonly items: readonly string[]; readonly body: string; tries: number } | null = null;
  #notBeforeMs = -Infinity;
  #waitMs = firstWaitMs;
  #sending: Promise<void> | null = null;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#stopTimer = options.clock.every(sendEveryMs, () => this.#sendIfDue());
  }

  add(item: string): void {
    if (this.#characters + item.length > this.#options.charactersMax) {
      this.dropped += 1;
      return;
    }
    this.#characters += item.length;
    this.#waiting.push(item);
  }

  /** Sends what waits, as far as the receiver takes it at once, and stops. */
  async close(): Promise<void> {
    this.#stopTimer();
    await this.#sending;
    while (this.#batch || this.#waiting.length > 0) if (!(await this.#sendBatch())) break;
  }

  #sendIfDue(): void {
    if (this.#sending || (this.#batch === null && this.#waiting.length === 0)) return;
    if (this.#options.clock.elapsedMs() < this.#notBeforeMs) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  async #sendAll(): Promise<void> {
    do {
      if (!(await this.#sendBatch())) return;
    } while (this.#waiting.length >= batchItemsMax);
  }

  /** Returns true when the receiver answers, so that the next batch may follow at once. */
  async #sendBatch(): Promise<boolean> {
    const batch = (this.#batch ??= this.#takeBatch());
    batch.tries += 1;
    const posted = await this.#options.post(batch.body);
    if (posted.kind === 'later') {
      this.#waitLonger(posted);
      if (batch.tries >= triesMax) this.#drop(batch.items.length);
    } else {
      this.#waitMs = firstWaitMs;
      this.#batch = null;
      this.dropped += posted.kind === 'taken' ? posted.rejected : batch.items.length;
    }
    const problem = posted.kind === 'taken' ? null : posted.problem;
    this.#options.onResult(problem, this.dropped);
    return posted.kind === 'taken';
  }

  #takeBatch() {
    let count = 0;
    let characters = 0;
    for (const { length } of this.#waiting) {
      if (count > 0 && characters + length > batchCharactersMax) break;
      if (count === batchItemsMax) break;
      count += 1;
      characters += length;
    }
    const items = this.#waiting.splice(0, count);
    this.#characters -= characters;
    return { items, body: this.#options.wrap(items), tries: 0 };
  }

  #waitLonger({ waitMs }: Extract<Posted, { kind: 'later' }>): void {
    this.#notBeforeMs = this.#options.clock.elapsedMs() + (waitMs ?? this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs);
  }

  #drop(count: number): void {
    this.dropped += count;
    this.#batch = null;
  }
}
