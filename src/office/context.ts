import type { ServerContext } from '../server/context.ts';
import type { Users } from './users.ts';

export type DashboardContext = ServerContext & { readonly users: Users };
