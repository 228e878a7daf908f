// Changes an account's export of its own traces, with its audit row in one transaction.
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import { addressProblem } from '../../domain/telemetry/accounts/address.ts';
import { headersProblem } from '../../domain/telemetry/accounts/headers.ts';
import { type ExportChange, changeExport } from '../../domain/telemetry/accounts/settings.ts';
import type { PublicHosts } from '../../lib/public-hosts.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { requireAccount } from './accounts.ts';

type ExportOrder = {
  readonly accountId: string;
  readonly change: ExportChange;
  readonly secrets: Secrets;
  readonly hosts: PublicHosts;
  /** Only an owner of the account may send prompts and answers out of the gateway. */
  readonly isOwner: boolean;
};

/** Running gateways follow within seconds. Throws ApiError 400, 403 or 404. */
export async function changeAccountTelemetry(
  changes: AuditedChanges,
  { accountId, change, secrets, hosts, isOwner }: ExportOrder,
): Promise<void> {
  const { endpoint, headers, includeContent } = change;
  refuse('endpoint', endpoint ? addressProblem(endpoint, hosts) : null);
  refuse('headers', headers ? headersProblem(headers) : null);
  if (includeContent === true && !isOwner)
    throw new ApiError(
      'not_permitted',
      'Only an owner of the account may export prompts and answers, in the dashboard.',
    );
  await changes.commit(async (database) => {
    await requireAccount(database.read, accountId);
    const { before, after } = await changeExport(database.write, secrets, { accountId, change });
    const noted = headers ? { ...after, headers: 'replaced' } : after;
    const fields = changedFields(before, noted);
    const about = { action: 'account.telemetry', subject: accountId, accountId } as const;
    return { change: fields && { ...about, ...fields } };
  });
}

/** `problem`: a clause that says what is wrong with the field and what to do. */
function refuse(field: 'endpoint' | 'headers', problem: string | null): void {
  if (problem !== null) throw invalidRequest(field, `\`${field}\` ${problem}`);
}
