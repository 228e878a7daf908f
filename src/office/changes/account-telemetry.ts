// Changes an account's export of its own traces, with its audit row in one transaction.
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changedFields } from '../../domain/audit/changed-fields.ts';
import { addressProblem } from '../../domain/telemetry/accounts/address.ts';
import { headersProblem } from '../../domain/telemetry/accounts/headers.ts';
import { type ExportChange, changeExport } from '../../domain/telemetry/accounts/settings.ts';
import type { PublicHosts } from '../../lib/public-hosts.ts';
import type { Secrets } from '../../lib/secrets.ts';

type ExportOrder = {
  readonly accountId: string;
  readonly change: ExportChange;
  readonly secrets: Secrets;
  readonly hosts: PublicHosts;
  /** Only an owner of the account may send prompts and answers out of the gateway. */
  readonly isOwner: boolean;
};

export type ExportOutcome =
  | { readonly kind: 'changed' }
  | { readonly kind: 'unknown-account' }
  | { readonly kind: 'owner-only' }
  /** `problem`: a clause that says what is wrong with the field and what to do. */
  | { readonly kind: 'invalid'; readonly field: string; readonly problem: string };

/** Running gateways follow within seconds. */
export async function changeAccountTelemetry(
  changes: AuditedChanges,
  { accountId, change, secrets, hosts, isOwner }: ExportOrder,
): Promise<ExportOutcome> {
  const { endpoint, headers, includeContent } = change;
  const wrongAddress = endpoint ? addressProblem(endpoint, hosts) : null;
  if (wrongAddress !== null) return { kind: 'invalid', field: 'endpoint', problem: wrongAddress };
  const wrongHeaders = headers ? headersProblem(headers) : null;
  if (wrongHeaders !== null) return { kind: 'invalid', field: 'headers', problem: wrongHeaders };
  if (includeContent === true && !isOwner) return { kind: 'owner-only' };
  return changes.commit<ExportOutcome>(async (database) => {
    if ((await findAccounts(database, [accountId])).length === 0)
      return { result: { kind: 'unknown-account' }, change: null };
    const { before, after } = await changeExport(database, secrets, { accountId, change });
    const noted = headers ? { ...after, headers: 'replaced' } : after;
    const fields = changedFields(before, noted);
    return {
      result: { kind: 'changed' },
      change: fields && { action: 'account.telemetry', subject: accountId, accountId, ...fields },
    };
  });
}
