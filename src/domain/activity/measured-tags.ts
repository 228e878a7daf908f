// Chooses the tags of an account and day that are counted and whose latencies are kept. Clients
// choose tags, and ids of end users can be tags, so their number is bounded. The first tags of a day
// are chosen, with a bound for each name as well: `user=…` leaves room for `project=…`. Other threads
// and gateways choose too, so the tags that are stored already count before those in memory.

export const measuredTagsMax = 200;
export const measuredValuesMax = 50;

export type ReadStoredTags = (owner: string, day: string) => Promise<readonly string[]>;

/** Tags by name. */
type Chosen = Map<string, Set<string>>;

export class MeasuredTags {
  #day = '';
  readonly #tags = new Map<string, Chosen>();
  /** Owners with tags that were chosen since their stored tags were read. */
  readonly #unsettled = new Set<string>();

  /** Returns those of the tags that are measured. `owner`: the account and mode. */
  take(owner: string, day: string, tags: readonly string[]): readonly string[] {
    if (tags.length === 0) return tags;
    if (day !== this.#day) {
      this.#day = day;
      this.#tags.clear();
      this.#unsettled.clear();
    }
    const chosen = this.#tags.get(owner) ?? new Map<string, Set<string>>();
    this.#tags.set(owner, chosen);
    return tags.filter((tag) => {
      if (isChosen(chosen, tag)) return true;
      if (!choose(chosen, tag)) return false;
      this.#unsettled.add(owner);
      return true;
    });
  }

  /** Gives up tags that have no room beside those that are stored. Call before writing. */
  async settle(readStored: ReadStoredTags): Promise<void> {
    const day = this.#day;
    for (const owner of this.#unsettled) {
      const stored = await readStored(owner, day);
      if (day !== this.#day) return;
      const chosen: Chosen = new Map();
      const own = [...this.#tags.get(owner)!.values()].flatMap((tags) => [...tags]);
      for (const tag of [...stored, ...own]) choose(chosen, tag);
      this.#tags.set(owner, chosen);
      this.#unsettled.delete(owner);
    }
  }

  /** Returns false for a tag that was given up. Those of earlier days are no longer known. */
  has(owner: string, day: string, tag: string): boolean {
    return day !== this.#day || isChosen(this.#tags.get(owner), tag);
  }
}

function isChosen(chosen: Chosen | undefined, tag: string): boolean {
  return chosen?.get(nameOfTag(tag))?.has(tag) ?? false;
}

/** Returns false when there is no room. */
function choose(chosen: Chosen, tag: string): boolean {
  const values = chosen.get(nameOfTag(tag)) ?? new Set();
  const count = chosen.values().reduce((sum, { size }) => sum + size, 0);
  if (values.size >= measuredValuesMax || count >= measuredTagsMax) return false;
  chosen.set(nameOfTag(tag), values.add(tag));
  return true;
}

/** `project` of `project=alpha`; a tag without a value is a name. */
export function nameOfTag(tag: string): string {
  return tag.split('=', 1)[0]!;
}
