// An account's export of its own traces.
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { readResults } from '../../domain/telemetry/accounts/results.ts';
import { readExportSettings } from '../../domain/telemetry/accounts/settings.ts';
import { isAtLeast, requireProof } from '../access.ts';
import { changeAccountTelemetry } from '../changes/account-telemetry.ts';
import type { ManagementContext } from '../context.ts';
import type { BodyOf } from '../contract/endpoint.ts';
import type { AccountTelemetry, telemetryEndpoints } from '../contract/telemetry.ts';
import type { Handlers } from '../handlers.ts';

export const telemetryHandlers: Handlers<typeof telemetryEndpoints> = {
  'GET /accounts/:account/telemetry': ({ context, params }) =>
    readTelemetry(context, params.account),

  'PATCH /accounts/:account/telemetry': async ({ context, account, session, body, changes }) => {
    const { accountId, role } = account;
    await requireProof(context, { userId: session.userId, accountId });
    const isOwner = isAtLeast(role, 'owner');
    return change({ context, changes }, { accountId, fields: body, isOwner });
  },

  'PATCH /admin/v1/accounts/:account/telemetry': async ({ context, params, body, changes }) => {
    const { account: accountId } = params;
    await change({ context, changes }, { accountId, fields: body, isOwner: false });
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

type AuditedCall = { readonly context: ManagementContext; readonly changes: AuditedChanges };

type Order = {
  readonly accountId: string;
  readonly fields: BodyOf<(typeof telemetryEndpoints)['PATCH /accounts/:account/telemetry']>;
  readonly isOwner: boolean;
};

/** Throws ApiError 400, 403 or 404. */
async function change(
  { context: { secrets, telemetry }, changes }: AuditedCall,
  { accountId, fields, isOwner }: Order,
): Promise<void> {
  await changeAccountTelemetry(changes, {
    accountId,
    change: {
      endpoint: fields.endpoint,
      headers: fields.headers,
      samplingRatio: fields.sampling_ratio,
      includeContent: fields.include_content,
    },
    secrets,
    hosts: telemetry.accounts.hosts,
    isOwner,
  });
}
