// The large whole answers of providers that are being read at this moment, bounded together: each may be 64 MB or more, and thirty at once
// would end the process. One that finds no room waits: its socket is not read, so that what the provider sends stays with it. The one that
// has been there longest always goes on, so that there is always one that ends.

/** An answer up to here is not counted: most are a few kilobytes. */
export const smallAnswerBytes = 256 * 1024;

export class LargeAnswers {
  readonly #bytesMax: number;
  /** In the order in which they became large. */
  readonly #answers = new Set<LargeAnswer>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** `resume`: called when an answer that waits may be read on. */
  open(resume: () => void): LargeAnswer {
    const answer = new LargeAnswer(this, resume);
    this.#answers.add(answer);
    return answer;
  }

  /** Counts bytes in. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  mayGoOn(answer: LargeAnswer): boolean {
    const [oldest] = this.#answers;
    return this.#bytes <= this.#bytesMax || answer === oldest;
  }

  remove(answer: LargeAnswer, bytes: number): void {
    if (!this.#answers.delete(answer)) return;
    this.#bytes -= bytes;
    // undici has one parser for all connections, and it may be at work in the caller: another one cannot be read on within it.
    queueMicrotask(() => this.#letGoOn());
  }

  #letGoOn(): void {
    for (const answer of this.#answers) if (this.mayGoOn(answer)) answer.goOn();
  }
}

export class LargeAnswer {
  readonly #all: LargeAnswers;
  readonly #resume: () => void;
  #bytes = 0;
  #isWaiting = false;

  constructor(all: LargeAnswers, resume: () => void) {
    this.#all = all;
    this.#resume = resume;
  }

  /** Counts bytes that have come; false: no more are to be read until `resume` is called. */
  take(bytes: number): boolean {
    this.#bytes += bytes;
    this.#all.add(bytes);
    this.#isWaiting = !this.#all.mayGoOn(this);
    return !this.#isWaiting;
  }

  goOn(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#resume();
  }

  /** Gives its bytes back; any further time does nothing. */
  close(): void {
    this.#all.remove(this, this.#bytes);
  }
}
