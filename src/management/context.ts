import type { Database } from '../db/database.ts';
import type { ServerContext } from '../server/context.ts';
import type { Alerts } from './alerts/alerts.ts';
import type { Users } from './user-services.ts';

/** What the doors have. */
export type DoorContext = ServerContext & { readonly users: Users; readonly alerts: Alerts };

export type Reader = Pick<Database, 'read' | 'url'>;

/** What handlers have. They change the database only by their caller's `changes`. */
export type ManagementContext = Omit<DoorContext, 'database'> & { readonly database: Reader };
