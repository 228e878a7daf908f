// Turns seals into those of a version before tags were sealed.
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { isSqlite } from '../../../src/db/dialect.ts';
import { readDaySums } from '../../../src/domain/ledger/reports/compare-sums.ts';
import { digestSums } from '../../../src/domain/ledger/seals/digests.ts';
import { digestOfSeal, readSeals } from '../../../src/domain/ledger/seals/seals.ts';
import { dayOf } from '../../../src/lib/utc-time.ts';

/** Seals can be changed after it. */
export async function dropSealGuard({ write }: Pick<Database, 'write'>): Promise<void> {
  const on = isSqlite(write) ? '' : ' on sealed_days';
  await sql.raw(`drop trigger sealed_days_refuse_update${on}`).execute(write);
}

export async function forgetSealedTags(database: Pick<Database, 'read' | 'write'>): Promise<void> {
  const { read, write } = database;
  await dropSealGuard(database);
  let previous = { digest: '', untilMs: 0 };
  for (const seal of await readSeals(read)) {
    const fromDay = previous.untilMs === 0 ? '' : dayOf(previous.untilMs);
    const sums = await readDaySums(read, { fromDay, toDay: seal.day });
    const earlier = {
      ...seal,
      tags_digest: null,
      sums_digest: digestSums({ ...sums, tagDays: null }),
      previous_digest: previous.digest,
    };
    const { tags_digest, sums_digest, previous_digest } = earlier;
    const digest = digestOfSeal(earlier);
    await write
      .updateTable('sealed_days')
      .set({ tags_digest, sums_digest, previous_digest, digest })
      .where('day', '=', seal.day)
      .execute();
    previous = { digest, untilMs: seal.until_ms };
  }
}
