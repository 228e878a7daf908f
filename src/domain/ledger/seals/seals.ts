// The stored seals, and the chain of their digests.
import type { Selectable } from 'kysely';
import type { Db, Tables } from '../../../db/schema.ts';
import type { Problem } from '../reports/audit.ts';
import { digestText } from './digests.ts';
import { journalStart, type Position } from './journal.ts';

export type SealRow = Selectable<Tables['sealed_days']>;

/** In order. Only the newest has its state. */
export function readSeals(db: Db): Promise<SealRow[]> {
  return db.selectFrom('sealed_days').selectAll().orderBy('day').execute();
}

export async function readNewestSeal(db: Db): Promise<SealRow | null> {
  const query = db.selectFrom('sealed_days').selectAll().orderBy('day', 'desc').limit(1);
  return (await query.executeTakeFirst()) ?? null;
}

export function positionOf(seal: SealRow | null | undefined): Position {
  if (!seal) return journalStart;
  return {
    afterSeq: seal.after_seq,
    lastSeq: seal.last_seq,
    untilMs: seal.until_ms,
    ahead: JSON.parse(seal.ahead) as number[],
  };
}

const digested = [
  'day',
  'until_ms',
  'after_seq',
  'last_seq',
  'ahead',
  'entries',
  'charges',
  'entries_digest',
  'charges_digest',
  'sums_digest',
  'state_digest',
  'previous_digest',
  'tags_digest',
] as const satisfies readonly (keyof SealRow)[];

/** The digest of a seal, and through the one before it of all seals so far. */
export function digestOfSeal(seal: Pick<SealRow, (typeof digested)[number]>): string {
  return digestText(JSON.stringify(digested.map((column) => [column, seal[column]])));
}

/** Returns the first seal that was changed, or whose predecessor is not the one it was made after. */
export function findBrokenSeal(seals: readonly SealRow[]): Problem | null {
  const newest = seals.at(-1);
  return findBrokenChain(seals) ?? (newest ? findWrongState(newest) : null);
}

/** Like `findBrokenSeal`, without the state. */
export function findBrokenChain(seals: readonly SealRow[]): Problem | null {
  let previous = '';
  for (const seal of seals) {
    if (seal.previous_digest !== previous) return wrongSeal(seal, 'previous_digest', previous);
    const digest = digestOfSeal(seal);
    if (seal.digest !== digest) return wrongSeal(seal, 'digest', digest);
    previous = seal.digest;
  }
  return null;
}

/** Checks the state of the newest seal, from which the next seal and the quick `verify` continue. */
export function findWrongState(newest: SealRow): Problem | null {
  const found = digestText(newest.state ?? '');
  return found === newest.state_digest
    ? null
    : wrongSeal(newest, 'state', newest.state_digest, found);
}

export function wrongSeal(
  seal: SealRow,
  column: keyof SealRow,
  expected: unknown,
  found: unknown = seal[column],
): Problem {
  return { table: 'sealed_days', id: seal.day, column, expected, found };
}
