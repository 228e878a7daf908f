// The audit log, for operators.
import { listChanges } from '../domain/audit/audit-log.ts';
import { invalidCursor } from '../canonical/errors.ts';
import type { operatorEndpoints } from './contract/operator.ts';
import type { Handlers } from './handlers.ts';

const pageRows = 50;

export const operatorHandlers: Handlers<typeof operatorEndpoints> = {
  'GET /operator/audit-log': async ({ context, query }) => {
    const {
      account: accountId,
      actor: actorId,
      action,
      subject,
      limit = pageRows,
      cursor = null,
    } = query;
    const page = await listChanges(context.database, {
      accountId,
      actorId,
      action,
      subject,
      limit,
      cursor,
    });
    if (!page) throw invalidCursor();
    return { data: page.entries, next_cursor: page.next };
  },
};
