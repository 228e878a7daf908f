// Who is under way: members come and go with every request. A Set would serve too, but not V8's
// garbage collector. Under constant change V8 replaces a Set's table again and again, and each old
// table points to the next. Once one of them is old enough for V8's old generation, it keeps all
// later tables and their members, with all that these refer to, until the next full collection:
// every request survives, and is copied twice. (A Map does the same.)

type Entry<Member> = { readonly member: Member; at: number };

export class Roster<Member> {
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

  /** A copy, in no order: members may leave while the caller goes through it. */
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
