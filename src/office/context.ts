import type { ServerContext } from '../server/context.ts';
import type { Users } from './user-services.ts';

export type OfficeContext = ServerContext & { readonly users: Users };
