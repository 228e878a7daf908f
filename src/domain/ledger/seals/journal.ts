// Reads the journal in its order, from its start or from a seal on.
//
// A seal covers every entry up to its `lastSeq` that is dated before its end. A ledger's entries are
// dated in their order, but those of different ledgers are mixed, so around midnight entries of the
// next day stand between those of the day. A reader starts after `afterSeq` and passes over what is
// covered. An entry that is dated far ahead would keep `afterSeq` back for long, so the first such
// entries are listed in `ahead` instead.
import type { Db } from '../../../db/schema.ts';
import type { PricedCharge } from '../reports/audit.ts';
import type { EntryRow } from '../columns.ts';

export type Position = {
  /** Everything up to here is covered, except `ahead`. */
  readonly afterSeq: number;
  /** Nothing behind this is covered. */
  readonly lastSeq: number;
  /** The end of the covered days, exclusive, in Unix milliseconds. */
  readonly untilMs: number;
  /** Ascending. */
  readonly ahead: readonly number[];
};

export const journalStart: Position = { afterSeq: 0, lastSeq: 0, untilMs: 0, ahead: [] };

/** An entry, and the charge of a settle entry, null if it is missing, with its tags in order. */
export type JournalRow = {
  readonly entry: EntryRow;
  readonly charge: PricedCharge | null;
  readonly tags: readonly string[];
};

const pageRows = 2_000;

/** Yields pages of the entries that are not covered, in the order of the journal. */
export async function* readJournal(
  db: Db,
  { afterSeq, lastSeq, untilMs, ahead }: Position,
): AsyncGenerator<readonly JournalRow[]> {
  if (ahead.length > 0) {
    const entries = await selectEntries(db).where('seq', 'in', ahead).execute();
    yield await withCharges(db, entries);
  }
  for (let after = afterSeq; ;) {
    const page = await selectEntries(db).where('seq', '>', after).limit(pageRows).execute();
    const last = page.at(-1);
    if (!last) return;
    after = last.seq;
    const isCovered = ({ seq, created_at_ms: timeMs }: EntryRow) =>
      seq <= lastSeq && timeMs < untilMs;
    yield await withCharges(
      db,
      page.filter((entry) => !isCovered(entry)),
    );
  }
}

/** Yields the rows that a seal covers and the one before it does not. */
export async function* readCovered(
  db: Db,
  { before, seal }: { readonly before: Position; readonly seal: Position },
): AsyncGenerator<readonly JournalRow[]> {
  for await (const page of readJournal(db, before)) {
    yield page.filter(
      ({ entry }) => entry.seq <= seal.lastSeq && entry.created_at_ms < seal.untilMs,
    );
    const last = page.at(-1);
    if (last && last.entry.seq > seal.lastSeq) return;
  }
}

function selectEntries(db: Db) {
  return db.selectFrom('entries').selectAll().orderBy('seq');
}

async function withCharges(db: Db, entries: readonly EntryRow[]): Promise<readonly JournalRow[]> {
  const settles = entries.filter(({ kind }) => kind === 'settle');
  const charges = settles.length === 0 ? [] : await readCharges(db, settles);
  const chargeById = new Map(charges.map((charge) => [charge.id, charge]));
  const tagged = settles.length === 0 ? [] : await readTags(db, settles);
  const tagsById = Map.groupBy(tagged, ({ charge_id: id }) => id);
  return entries.map((entry) => {
    // The other entries of a hold have its id too.
    if (entry.kind !== 'settle') return { entry, charge: null, tags: [] };
    const tags = tagsById.get(entry.id)?.map(({ tag }) => tag) ?? [];
    return { entry, charge: chargeById.get(entry.id) ?? null, tags };
  });
}

/** Entries that span more of the journal than this are found one by one. */
const spanMax = 2 * pageRows;

function settledWithin(db: Db, settles: readonly EntryRow[]) {
  const seqs = settles.map(({ seq }) => seq);
  const [first, last] = [seqs[0]!, seqs.at(-1)!];
  return db
    .selectFrom('entries')
    .where('entries.kind', '=', 'settle')
    .where((eb) =>
      last - first > spanMax
        ? eb('entries.seq', 'in', seqs)
        : eb.and([eb('entries.seq', '>=', first), eb('entries.seq', '<=', last)]),
    );
}

/** Finds charges by ledger, time and id, as they are stored. */
async function readCharges(db: Db, settles: readonly EntryRow[]): Promise<readonly PricedCharge[]> {
  const times = settles.map(({ created_at_ms: timeMs }) => timeMs);
  return settledWithin(db, settles)
    .innerJoin('charges', (join) =>
      join
        .onRef('charges.ledger_id', '=', 'entries.ledger_id')
        .onRef('charges.created_at_ms', '=', 'entries.created_at_ms')
        .onRef('charges.id', '=', 'entries.id'),
    )
    .leftJoin('prices', 'prices.id', 'charges.price_id')
    .selectAll('charges')
    .select('prices.terms')
    .where('charges.created_at_ms', '>=', Math.min(...times))
    .where('charges.created_at_ms', '<=', Math.max(...times))
    .execute();
}

/** Finds tags by ledger, time and charge, as they are indexed. */
async function readTags(
  db: Db,
  settles: readonly EntryRow[],
): Promise<readonly { readonly charge_id: string; readonly tag: string }[]> {
  return settledWithin(db, settles)
    .innerJoin('charge_tags', (join) =>
      join
        .onRef('charge_tags.ledger_id', '=', 'entries.ledger_id')
        .onRef('charge_tags.created_at_ms', '=', 'entries.created_at_ms')
        .onRef('charge_tags.charge_id', '=', 'entries.id'),
    )
    .select(['charge_tags.charge_id', 'charge_tags.tag'])
    .orderBy('charge_tags.tag')
    .execute();
}
