// What commands change is noted beside what is changed in the dashboard.
import { AuditedChanges } from '../audit/audited-changes.ts';
import type { Database } from '../db/database.ts';
import { systemClock } from '../lib/clock.ts';

/** `command`: without the program's name, `keys create`. */
export function changesBy(command: string, database: Database): AuditedChanges {
  const actor = { kind: 'command', id: command, name: `tollgate ${command}`, address: null } as const;
  return new AuditedChanges({ database, actorOf: () => actor, accountId: null, clock: systemClock });
}
