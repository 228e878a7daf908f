// An account's export of its own traces.
import { readResults } from '../../domain/telemetry/accounts/results.ts';
import { readExportSettings } from '../../domain/telemetry/accounts/settings.ts';
import { isAtLeast, requireProof } from '../access.ts';
import { changeAccountTelemetry } from '../changes/account-telemetry.ts';
import type { ManagementContext } from '../context.ts';
import type { AccountTelemetry, telemetryEndpoints } from '../contract/telemetry.ts';
import type { Handlers } from '../handlers.ts';

export const telemetryHandlers: Handlers<typeof telemetryEndpoints> = {
  'GET /accounts/:account/telemetry': ({ context, params }) =>
    readTelemetry(context, params.account),

  'PATCH /accounts/:account/telemetry': async ({ context, params, account, session, ...call }) => {
    const { account: accountId } = params;
    if (session) await requireProof(context, { userId: session.userId, accountId });
    const { secrets, telemetry } = context;
    const { sampling_ratio: samplingRatio, include_content: includeContent, ...fields } = call.body;
    await changeAccountTelemetry(call.changes, {
      accountId,
      change: { ...fields, samplingRatio, includeContent },
      secrets,
      hosts: telemetry.accounts.hosts,
      isOwner: account !== null && isAtLeast(account.role, 'owner'),
    });
    return readTelemetry(context, accountId);
  },
};

async function readTelemetry(
  { database: { read } }: ManagementContext,
  accountId: string,
): Promise<AccountTelemetry> {
  return {
    ...(await readExportSettings(read, accountId)),
    ...(await readResults(read, accountId)),
  };
}
