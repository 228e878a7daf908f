// A bounded queue of written spans and the one loop that sends them. A request only appends; when
// the receiver is slow or down, the queue fills and further spans are dropped and counted.
import type { CancelTimer, Clock } from '../../lib/clock.ts';
import { Batch, type Wrapping } from './batch.ts';
import type { Post, Posted } from './post.ts';
import type { Room } from '../../lib/room.ts';

type QueueOptions = {
  readonly post: Post;
  readonly wrapping: Wrapping;
  /** For the bytes that wait. */
  readonly room: Room;
  /** Called after each try that failed, and with null after one that succeeded. */
  readonly onResult: (problem: string | null, queue: SendQueue) => void;
  readonly sendEveryMs?: number;
  readonly clock: Clock;
};

const triesMax = 5;
const firstWaitMs = 1_000;
const longestWaitMs = 60_000;

export class SendQueue {
  /** Spans that the receiver took. */
  sent = 0;
  /** Spans that were dropped: the queue was full, or the receiver refused them. */
  dropped = 0;
  readonly #options: QueueOptions;
  readonly #stopTimer: CancelTimer;
  /** The first is sent next, and spans are added to the last. */
  #waiting: Batch[] = [];
  #spareMemory: Buffer | null = null;
  #notBeforeMs = -Infinity;
  #waitMs = firstWaitMs;
  #sending: Promise<void> | null = null;

  constructor(options: QueueOptions) {
    const { clock, sendEveryMs = 1_000 } = options;
    this.#options = options;
    this.#stopTimer = clock.every(sendEveryMs, () => this.#sendIfDue());
  }

  /** Copies an item: JSON objects of this many spans, with commas between them. */
  add(item: Uint8Array, spans = 1): void {
    if (!this.#options.room.take(item.length)) {
      this.dropped += spans;
      return;
    }
    this.#batchFor(item).add(item, spans);
  }

  /** Sends what waits, as far as the receiver takes it at once, and stops. */
  async close(): Promise<void> {
    this.#stopTimer();
    await this.#sending;
    while (this.#waiting.length > 0) if (!(await this.#sendBatch())) break;
    this.abandon();
  }

  /** Drops what waits, and stops. */
  abandon(): void {
    this.#stopTimer();
    while (this.#waiting.length > 0) this.dropped += this.#takeFirst().spans;
  }

  /** The batch under way is complete: a failed one is sent again as it was. */
  #batchFor(item: Uint8Array): Batch {
    const last = this.#waiting.at(-1);
    if (last && last.tries === 0 && !last.isFullFor(item)) return last;
    const batch = new Batch(this.#options.wrapping, this.#spareMemory);
    this.#spareMemory = null;
    this.#waiting.push(batch);
    return batch;
  }

  #sendIfDue(): void {
    if (this.#sending || this.#waiting.length === 0) return;
    if (this.#options.clock.elapsedMs() < this.#notBeforeMs) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = null;
    });
  }

  async #sendAll(): Promise<void> {
    do {
      if (!(await this.#sendBatch())) return;
    } while (this.#waiting.length > 1);
  }

  /** Returns true when the receiver answers, so that the next batch may follow at once. */
  async #sendBatch(): Promise<boolean> {
    const batch = this.#waiting[0]!;
    batch.tries += 1;
    const posted = await this.#options.post(batch.body());
    // It was abandoned meanwhile.
    if (this.#waiting[0] !== batch) return false;
    if (posted.kind === 'later') {
      this.#waitLonger(posted);
      if (batch.tries >= triesMax) this.dropped += this.#takeFirst().spans;
    } else {
      this.#waitMs = firstWaitMs;
      this.#takeFirst();
      const rejected =
        posted.kind === 'taken' ? Math.min(posted.rejected, batch.spans) : batch.spans;
      this.dropped += rejected;
      this.sent += batch.spans - rejected;
    }
    this.#options.onResult(posted.kind === 'taken' ? null : posted.problem, this);
    return posted.kind === 'taken';
  }

  #takeFirst(): Batch {
    const batch = this.#waiting.shift()!;
    this.#options.room.give(batch.itemBytes);
    this.#spareMemory = batch.memory;
    return batch;
  }

  #waitLonger({ waitMs }: Extract<Posted, { kind: 'later' }>): void {
    this.#notBeforeMs = this.#options.clock.elapsedMs() + (waitMs ?? this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, longestWaitMs);
  }
}
