// An account's export of its own traces.
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import type { AccountTelemetry, telemetryEndpoints } from './contract/telemetry.ts';
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { readResults } from '../domain/telemetry/accounts/results.ts';
import { readExportSettings } from '../domain/telemetry/accounts/settings.ts';
import { changeAccountTelemetry } from './changes/account-telemetry.ts';
import { isAtLeast, requireProof } from './access.ts';
import type { DashboardContext } from './context.ts';
import { audited, type Handlers, unchanged } from './handlers.ts';
import { noSuchAccount } from './operator-accounts.ts';

export const telemetryHandlers: Handlers<typeof telemetryEndpoints> = {
  'GET /accounts/:account/telemetry': ({ context, account }) =>
    readTelemetry(context, account.accountId),

  'PATCH /accounts/:account/telemetry': async ({ context, account, session, body, changes }) => {
    const { accountId, role } = account;
    await requireProof(context, { userId: session.userId, accountId });
    const isOwner = isAtLeast(role, 'owner');
    await changeTelemetry({ context, changes }, { accountId, fields: body, isOwner });
    return audited({ ok: true });
  },

  'POST /accounts/:account/telemetry/test': async ({ context, account, request }) => {
    const { accountId } = account;
    await context.users.attempts.take(request.ip, { kind: 'telemetry-test', of: accountId });
    return unchanged({ problem: await context.telemetry.accounts.sendTest(accountId) });
  },
};

export async function readTelemetry(
  { database: { read } }: DashboardContext,
  accountId: string,
): Promise<AccountTelemetry> {
  return {
    ...(await readExportSettings(read, accountId)),
    ...(await readResults(read, accountId)),
  };
}

type TelemetryFields = {
  readonly endpoint?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sampling_ratio?: number;
  readonly include_content?: boolean;
};

type Order = {
  readonly accountId: string;
  readonly fields: TelemetryFields;
  readonly isOwner: boolean;
};

/** Throws ApiError 400, 403 or 404. */
export async function changeTelemetry(
  {
    context: { secrets, telemetry },
    changes,
  }: { readonly context: DashboardContext; readonly changes: AuditedChanges },
  { accountId, fields, isOwner }: Order,
): Promise<void> {
  const outcome = await changeAccountTelemetry(changes, {
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
  switch (outcome.kind) {
    case 'changed':
      return;
    case 'unknown-account':
      throw noSuchAccount();
    case 'owner-only':
      throw new ApiError(
        'not_permitted',
        'Only an owner of the account may export prompts and answers, in the dashboard.',
      );
    case 'invalid':
      throw invalidRequest(outcome.field, `\`${outcome.field}\` ${outcome.problem}`);
  }
}
