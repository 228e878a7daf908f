// Finds parts of a turn that have no signature yet. Positions only move forward, so each part is
// visited once, however many signatures a request holds. A new search for each took minutes for two
// hundred thousand of them.

type Signable = { readonly signature: string };

/** Takes the parts with their indices in the turn, in order. */
export class FreeParts<Part extends Signable> {
  readonly #parts: readonly { readonly part: Part; readonly index: number }[];
  #next = 0;
  readonly #passed: Part[] = [];

  constructor(parts: readonly { readonly part: Part; readonly index: number }[]) {
    this.#parts = parts;
  }

  /** Returns the last free part before `at`. `at` must never decrease. */
  before(at: number): Part | undefined {
    for (; this.#next < this.#parts.length && this.#parts[this.#next]!.index < at; this.#next++) {
      this.#passed.push(this.#parts[this.#next]!.part);
    }
    while (this.#passed.at(-1) && !isFree(this.#passed.at(-1)!)) this.#passed.pop();
    return this.#passed.at(-1);
  }

  /** Returns the first free part from `at` on. */
  from(at: number): Part | undefined {
    this.before(at);
    while (this.#parts[this.#next] && !isFree(this.#parts[this.#next]!.part)) this.#next++;
    return this.#parts[this.#next]?.part;
  }
}

function isFree({ signature }: Signable): boolean {
  return signature === '';
}
