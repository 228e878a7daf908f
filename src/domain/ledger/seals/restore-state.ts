// Restores the state of the newest seal after it was lost or changed: it follows from the sealed days,
// and its digest, which is part of the chain, proves that it is the same.
import type { Database } from '../../../db/database.ts';
import { newAudit } from '../reports/audit.ts';
import { auditSealed } from '../reports/verify.ts';
import { digestText } from './digests.ts';
import { findBrokenChain, findWrongState, readSeals } from './seals.ts';
import { writeState } from './state.ts';

/** Returns the day of the seal, or null when nothing was lost or it cannot be restored. */
export async function restoreState({
  read,
  write,
}: Pick<Database, 'read' | 'write'>): Promise<string | null> {
  const seals = await readSeals(read);
  const [before, newest] = [seals.at(-2), seals.at(-1)];
  if (!newest || !findWrongState(newest) || findBrokenChain(seals)) return null;
  const ledgers = await read.selectFrom('ledgers').select('id').execute();
  const audit = newAudit(ledgers.map(({ id }) => id));
  if (await auditSealed(read, audit, seals)) return null;
  const state = writeState(audit, before?.until_ms ?? 0);
  if (digestText(state) !== newest.state_digest) return null;
  await write.updateTable('sealed_days').set({ state }).where('day', '=', newest.day).execute();
  return newest.day;
}
