// Limits the memory of large whole answers that are being read: each may be 64 MB or more, and
// thirty at once would end the process. An answer without room waits: its socket is not read, so
// the data stays with the provider. The oldest one always continues, so that one always finishes.

/** Smaller answers are not counted; most are a few kilobytes. */
export const smallAnswerBytes = 256 * 1024;

export class LargeAnswers {
  readonly #bytesMax: number;
  /** Answers in the order in which they became large. */
  readonly #answers = new Set<LargeAnswer>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** `resume`: called when a waiting answer may be read on. */
  open(resume: () => void): LargeAnswer {
    const answer = new LargeAnswer(this, resume);
    this.#answers.add(answer);
    return answer;
  }

  /** Counts bytes of an answer. Returns false when it must wait. */
  take(answer: LargeAnswer, bytes: number): boolean {
    this.#bytes += bytes;
    return this.#mayGoOn(answer);
  }

  remove(answer: LargeAnswer, bytes: number): void {
    if (!this.#answers.delete(answer)) return;
    this.#bytes -= bytes;
    // undici has one parser for all connections. The caller may be inside it, so another connection
    // cannot be resumed right now.
    queueMicrotask(() => this.#resumeWaiting());
  }

  #resumeWaiting(): void {
    for (const answer of this.#answers) if (this.#mayGoOn(answer)) answer.goOn();
  }

  #mayGoOn(answer: LargeAnswer): boolean {
    const [oldest] = this.#answers;
    return this.#bytes <= this.#bytesMax || answer === oldest;
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

  /** Counts bytes that arrived. Returns false when reading must stop until `resume` is called. */
  take(bytes: number): boolean {
    this.#bytes += bytes;
    this.#isWaiting = !this.#all.take(this, bytes);
    return !this.#isWaiting;
  }

  goOn(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#resume();
  }

  /** Frees the answer's bytes; further calls do nothing. */
  close(): void {
    this.#all.remove(this, this.#bytes);
  }
}
