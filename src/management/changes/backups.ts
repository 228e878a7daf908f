// The record of backups: the audit log knows when the last one was made.
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import type { Db } from '../../db/schema.ts';

/** The subject of the entries, by which the last one is found in an index. */
const subject = 'database';
const action = 'backup.make';

/** `details`: the file and its size; null for a backup made with another tool. */
export function recordBackup(
  changes: AuditedChanges,
  details: { readonly file: string; readonly bytes: number } | null,
): Promise<void> {
  return changes.commit(async () => ({
    change: { action, subject, accountId: null, after: details ?? {} },
  }));
}

/** Returns when the last backup was recorded, in Unix milliseconds; null: none was. */
export async function readLastBackup(read: Db): Promise<number | null> {
  const row = await read
    .selectFrom('audit_log')
    .select('created_at_ms')
    .where('subject', '=', subject)
    .where('action', '=', action)
    .orderBy('created_at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at_ms ?? null;
}
