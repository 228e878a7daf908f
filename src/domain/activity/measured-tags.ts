// Chooses the tags of an account and day whose latencies are kept. Ids of end users can be tags, so
// their number is not bounded, and each tag has about ten rows a day. The first tags of a day are
// chosen, with a bound for each name as well: `user=…` leaves room for `project=…`.

export const measuredTagsMax = 200;
export const measuredValuesMax = 50;

export class MeasuredTags {
  #day = '';
  readonly #tags = new Map<string, Map<string, Set<string>>>();

  /** Returns those of the tags that are measured. `owner`: the account and mode. */
  take(owner: string, day: string, tags: readonly string[]): readonly string[] {
    if (day !== this.#day) {
      this.#day = day;
      this.#tags.clear();
    }
    const names = this.#tags.get(owner) ?? new Map<string, Set<string>>();
    this.#tags.set(owner, names);
    return tags.filter((tag) => isTaken(names, tag));
  }
}

function isTaken(names: Map<string, Set<string>>, tag: string): boolean {
  const name = tag.split('=', 1)[0]!;
  const taken = names.get(name) ?? new Set();
  if (taken.has(tag)) return true;
  const count = names.values().reduce((sum, { size }) => sum + size, 0);
  if (taken.size >= measuredValuesMax || count >= measuredTagsMax) return false;
  names.set(name, taken.add(tag));
  return true;
}
