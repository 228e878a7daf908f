// The rows that a decision changes, for any store: each row once, even if several commands of the
// batch changed it.
import { type Entry, holdIdOfExtension, windowOf, windowsOfEntry } from './book.ts';
import { sumByDay } from './charge-days.ts';
import { rowsOfTags, sumTagDays } from './charge-tags.ts';
import type { Decision } from './core.ts';
import { endsHold } from './journal.ts';
import { sumCausedByAccounts } from './loss-days.ts';

export type Changes = ReturnType<typeof changesOf>;

export function changesOf({
  book,
  entries,
  charges,
  tagged,
  prices,
  responses,
  cached,
  auditRows,
}: Decision) {
  // Most entries of a batch belong to few keys, and a lookup by three strings is expensive.
  const distinctWindows = new Map(
    entries.map((entry) => [`${entry.keyId} ${entry.day}`, entry]),
  ).values();
  const windows = distinctWindows
    .flatMap(windowsOfEntry)
    .map(({ keyId, kind, startsOn }) => windowOf(book, keyId, kind, startsOn));
  const opened = new Set(entries.filter(({ kind }) => kind === 'reserve').map(({ id }) => id));
  const enlarged = entries
    .filter(({ kind }) => kind === 'extend')
    .map(({ id }) => holdIdOfExtension(id));
  const stillOpen = (ids: readonly string[]) =>
    [...new Set(ids)].flatMap((id) => book.holds.get(id) ?? []);
  return {
    ledgers: [...new Set(entries.map(({ ledgerId }) => ledgerId))].map((id) => ({
      id,
      state: book.ledgers.get(id)!,
    })),
    windows: [...new Set(windows)],
    // A hold that was opened and ended in the same batch is never stored.
    openedHolds: stillOpen([...opened]),
    enlargedHolds: stillOpen(enlarged.filter((id) => !opened.has(id))),
    endedHoldIds: entries
      .filter((entry) => endsHold(entry) && !opened.has(entry.id))
      .map(({ id }) => id),
    entries: entries.map(withOwnWindows),
    // May be stored already.
    prices: [...new Map(prices.map((price) => [price.id, price])).values()],
    charges,
    // Additions to daily sums, here and below.
    chargeDays: sumByDay(charges),
    chargeTags: tagged.flatMap(rowsOfTags),
    tagDays: sumTagDays(tagged),
    lossDays: sumCausedByAccounts(entries),
    // Each replaces the claim of its request, unless another request holds the key.
    responses,
    // The last one of each name. Each replaces an older one, if its account stores answers and was
    // not purged.
    cached: [
      ...new Map(cached.map((answer) => [`${answer.accountId} ${answer.digest}`, answer])).values(),
    ],
    auditRows,
  };
}

/** Only a reservation stores its windows; the other entries of its hold have the same. */
function withOwnWindows(entry: Entry): Entry {
  return entry.kind === 'reserve' ? entry : { ...entry, day: null, month: null };
}
