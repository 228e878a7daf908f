// What commands change is noted beside what is changed in the dashboard.
import { recordChange, type Change } from '../audit/audit-log.ts';
import type { Database } from '../db/database.ts';

/** `command`: without the program's name, `keys create`. */
export async function noteChange(
  database: Database,
  command: string,
  change: Change & { readonly accountId: string | null },
): Promise<void> {
  const actor = { kind: 'command', id: command, name: `tollgate ${command}`, address: null } as const;
  await recordChange(database, { actor, change, accountId: change.accountId });
}
