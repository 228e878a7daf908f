// Limits the memory of large whole answers that are being read: each may be 64 MB or more, and
// thirty at once would end the process. An answer without room waits: its socket is not read, so
// the data stays with the provider. The oldest one always continues, so that one always finishes.

/** Smaller answers are not counted; most are a few kilobytes. */
export const smallAnswerBytes = 256 * 1024;

export type LargeAnswer = ReturnType<LargeAnswers['open']>;

type Reading = { readonly resume: () => void; bytes: number; isWaiting: boolean };

export class LargeAnswers {
  readonly #bytesMax: number;
  /** In the order in which they became large. */
  readonly #answers = new Set<Reading>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** `resume`: called when a waiting answer may be read on. */
  open(resume: () => void) {
    const answer: Reading = { resume, bytes: 0, isWaiting: false };
    this.#answers.add(answer);
    return {
      /** Counts bytes that arrived. Returns false when reading must stop until `resume` is called. */
      take: (bytes: number): boolean => {
        answer.bytes += bytes;
        this.#bytes += bytes;
        answer.isWaiting = !this.#mayGoOn(answer);
        return !answer.isWaiting;
      },
      /** Frees the answer's bytes; further calls do nothing. */
      close: (): void => {
        if (!this.#answers.delete(answer)) return;
        this.#bytes -= answer.bytes;
        // undici has one parser for all connections. The caller may be inside it, so another
        // connection cannot be resumed right now.
        queueMicrotask(() => this.#resumeWaiting());
      },
    };
  }

  #resumeWaiting(): void {
    for (const answer of this.#answers) {
      if (!answer.isWaiting || !this.#mayGoOn(answer)) continue;
      answer.isWaiting = false;
      answer.resume();
    }
  }

  #mayGoOn(answer: Reading): boolean {
    const [oldest] = this.#answers;
    return this.#bytes <= this.#bytesMax || answer === oldest;
  }
}
