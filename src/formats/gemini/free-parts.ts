// The parts of a turn that may still take a signature, found from places that only move forward. Each part is looked at once, however
// many signatures a request holds: looking for each anew took minutes for two hundred thousand of them.

type Signable = { readonly signature: string };

/** Give the parts with their indices in the turn, in order. */
export class FreeParts<Part extends Signable> {
  readonly #parts: readonly { readonly part: Part; readonly index: number }[];
  #next = 0;
  readonly #passed: Part[] = [];

  constructor(parts: readonly { readonly part: Part; readonly index: number }[]) {
    this.#parts = parts;
  }

  /** The last free part ahead of `at`, which must not be less than before. */
  before(at: number): Part | undefined {
    for (; this.#next < this.#parts.length && this.#parts[this.#next]!.index < at; this.#next++) {
      this.#passed.push(this.#parts[this.#next]!.part);
    }
    while (this.#passed.at(-1) && !isFree(this.#passed.at(-1)!)) this.#passed.pop();
    return this.#passed.at(-1);
  }

  /** The first free part from `at` on. */
  from(at: number): Part | undefined {
    this.before(at);
    while (this.#parts[this.#next] && !isFree(this.#parts[this.#next]!.part)) this.#next++;
    return this.#parts[this.#next]?.part;
  }
}

function isFree({ signature }: Signable): boolean {
  return signature === '';
}
