// A collection whose members come and go with every request, such as the open runs. It is an array,
// because a Set or Map would keep the memory of ended requests: V8 replaces the table of a Set again
// and again while members come and go, and each old table points to the next. As soon as one table is
// in V8's old generation, it keeps all later ones alive until the next full collection, with their
// members and all that these refer to.

type Entry<Member> = { readonly member: Member; at: number };

export class ActiveSet<Member> {
  readonly #entries: Entry<Member>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Returns a function that removes the member; further calls do nothing. */
  add(member: Member): () => void {
    const entry = { member, at: this.#entries.length };
    this.#entries.push(entry);
    return () => this.#remove(entry);
  }

  /** Returns a copy, in no order, so that members may leave while the caller goes through it. */
  members(): Member[] {
    return this.#entries.map(({ member }) => member);
  }

  /** The last one takes the place of the one that leaves. */
  #remove(entry: Entry<Member>): void {
    if (this.#entries[entry.at] !== entry) return;
    const last = this.#entries.pop()!;
    if (last === entry) return;
    last.at = entry.at;
    this.#entries[last.at] = last;
  }
}
