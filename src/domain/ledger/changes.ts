// The rows that a decision changes, for any store: each row once, even if several commands of the
// batch changed it.
import {
  type CachedResponse,
  type Charge,
  type Entry,
  type Hold,
  holdIdOfExtension,
  type LedgerState,
  type StoredResponse,
  type Window,
  windowOf,
  windowsOfEntry,
} from './book.ts';
import type { KeptPrice } from '../../terms/price-terms.ts';
import { type ChargeDayRow, sumByDay } from './charge-days.ts';
import { type ChargeTagRow, rowsOfTags, sumTagDays, type TagDayRow } from './charge-tags.ts';
import type { AuditRow, LedgerId } from './commands.ts';
import type { Decision } from './core.ts';
import { endsHold } from './journal.ts';
import { type LossDayRow, sumCausedByAccounts } from './loss-days.ts';

export type Changes = {
  readonly ledgers: readonly { readonly id: LedgerId; readonly state: LedgerState }[];
  readonly windows: readonly Window[];
  /** A hold that was opened and ended in the same batch is never stored. */
  readonly openedHolds: readonly Hold[];
  readonly enlargedHolds: readonly Hold[];
  readonly endedHoldIds: readonly string[];
  readonly entries: readonly Entry[];
  /** May be stored already. */
  readonly prices: readonly KeptPrice[];
  readonly charges: readonly Charge[];
  /** Additions to the daily sums of charges. */
  readonly chargeDays: readonly ChargeDayRow[];
  readonly chargeTags: readonly ChargeTagRow[];
  /** Additions to the daily sums of charges by tag. */
  readonly tagDays: readonly TagDayRow[];
  /** Additions to the daily provoked losses. */
  readonly lossDays: readonly LossDayRow[];
  /** Each replaces the claim of its request, unless another request holds the key. */
  readonly responses: readonly StoredResponse[];
  /**
   * The last one of each name. Each replaces an older one, if its account stores answers and was
   * not purged.
   */
  readonly cached: readonly CachedResponse[];
  readonly auditRows: readonly AuditRow[];
};

export function changesOf({
  book,
  entries,
  charges,
  tagged,
  prices,
  responses,
  cached,
  auditRows,
}: Decision): Changes {
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
    openedHolds: stillOpen([...opened]),
    enlargedHolds: stillOpen(enlarged.filter((id) => !opened.has(id))),
    endedHoldIds: entries
      .filter((entry) => endsHold(entry) && !opened.has(entry.id))
      .map(({ id }) => id),
    entries: entries.map(withOwnWindows),
    prices: [...new Map(prices.map((price) => [price.id, price])).values()],
    charges,
    chargeDays: sumByDay(charges),
    chargeTags: tagged.flatMap(rowsOfTags),
    tagDays: sumTagDays(tagged),
    lossDays: sumCausedByAccounts(entries),
    responses,
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
