// An account's export of its own traces.
import type { telemetryEndpoints } from '../contract/admin/telemetry.ts';
import { changeTelemetry, readTelemetry } from '../telemetry.ts';
import { requireAccount } from './accounts.ts';
import type { AdminHandlers } from './handlers.ts';

export const telemetryHandlers: AdminHandlers<typeof telemetryEndpoints> = {
  'GET /accounts/:account/telemetry': async ({ context, params: { account: accountId } }) => {
    await requireAccount(context.database, accountId);
    return readTelemetry(context, accountId);
  },

  'PATCH /accounts/:account/telemetry': async ({ context, params, body, changes }) => {
    const { account: accountId } = params;
    await changeTelemetry({ context, changes }, { accountId, fields: body, isOwner: false });
    return readTelemetry(context, accountId);
  },

  'POST /accounts/:account/telemetry/test': async ({ context, params: { account: accountId } }) => {
    await requireAccount(context.database, accountId);
    return { problem: await context.telemetry.accounts.sendTest(accountId) };
  },
};
