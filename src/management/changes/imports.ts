// Carries out a plan of what moves here from another gateway (domain/imports/plan.ts). Ids follow
// from those at the source, so that a second run, or one after a kill, adds only what is missing.
import { changeTerms, findAccounts, readTerms } from '../../domain/accounts/manage-accounts.ts';
import { listChanges } from '../../domain/audit/audit-log.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import type { ImportPlan, Line, PlannedAccount, PlannedKey } from '../../domain/imports/plan.ts';
import { digestKeyFrom } from '../../domain/keys/key-text.ts';
import { findKey } from '../../domain/keys/list-keys.ts';
import { insertMovedKey } from '../../domain/keys/moved-keys.ts';
import type { AdminLedger } from '../../domain/ledger/open-ledger.ts';
import { derivedId } from '../../lib/ids.ts';
import { micros } from '../../lib/money.ts';
import type { Secret } from '../../lib/secrets.ts';
import { openAccount } from './accounts.ts';
import { adjustBalance } from './balances.ts';

/** What became of an account or a key; `here`: an earlier run brought it. */
export type Arrival = {
  readonly id: string;
  readonly result: 'came' | 'here' | 'refused';
  readonly why?: string;
};

export type ImportOptions = {
  /** A name of the source, which tells two installations of one product apart. */
  readonly source: string;
  /** null: change nothing, and return as `came` what would come. */
  readonly ledger: Pick<AdminLedger, 'submit'> | null;
  readonly secret: Secret;
};

/** Returns what became of each account and key of the plan that does not stay. */
export async function importPlan(
  changes: AuditedChanges,
  plan: ImportPlan,
  options: ImportOptions,
): Promise<ReadonlyMap<Line, Arrival>> {
  const arrivals = new Map<Line, Arrival>();
  const accounts = new Map<string, string>();
  for (const account of plan.accounts.filter(({ result }) => result !== 'stays')) {
    const arrival = await importAccount(changes, account, options);
    arrivals.set(account, arrival);
    if (arrival.result !== 'refused') accounts.set(account.sourceId, arrival.id);
  }
  for (const key of plan.keys.filter(({ result }) => result !== 'stays')) {
    const id = idOf('key', options, key);
    const accountId = accounts.get(key.account);
    if (accountId === undefined)
      arrivals.set(key, { id, result: 'refused', why: 'its account did not come' });
    else arrivals.set(key, await importKey(changes, key, { ...options, id, accountId }));
  }
  return arrivals;
}

function idOf(
  prefix: string,
  { source }: Pick<ImportOptions, 'source'>,
  { sourceId }: Pick<PlannedKey, 'sourceId'>,
): string {
  return derivedId(prefix, JSON.stringify([source, sourceId]));
}

async function importAccount(
  changes: AuditedChanges,
  planned: PlannedAccount,
  { source, ledger }: ImportOptions,
): Promise<Arrival> {
  const { name, sourceId, balanceMicros } = planned;
  const id = idOf('acc', { source }, planned);
  const isNew = ledger
    ? await openImported(changes, planned, { id, source })
    : (await findAccounts(changes.unrecorded.read, [id])).length === 0;
  if (!isNew && (await nameAtImport(changes, id)) !== name) {
    const why = `${sourceId} had another name when it came. If this is another installation, give it a name of its own with --source`;
    return { id, result: 'refused', why };
  }
  const booked =
    balanceMicros === 0 || !ledger
      ? true
      : await adjustBalance(changes, ledger, {
          kind: balanceMicros > 0 ? 'credit' : 'debit',
          accountId: id,
          mode: 'live',
          amountMicros: micros(Math.abs(balanceMicros)),
          note: `balance from ${source}`,
          entryId: idOf('ent', { source }, planned),
        });
  const why = 'its balance there has changed since; the one that came first counts';
  return { id, result: isNew ? 'came' : 'here', ...(!booked && { why }) };
}

function openImported(
  changes: AuditedChanges,
  { name, sourceId, result, priceMultiplierPpm, ...account }: PlannedAccount,
  { id, source }: { readonly id: string; readonly source: string },
): Promise<boolean> {
  const { requestsPerMinute, tokensPerMinute } = account;
  const limits = { requestsPerMinute, tokensPerMinute };
  return changes.commit(async (database) => {
    const order = { id, name, priceMultiplierPpm, limits };
    const { isNew } = await openAccount(database.write, order, changes.clock.nowMs());
    if (!isNew) return { result: false, change: null };
    if (result === 'disabled') await changeTerms(database.write, id, { isFrozen: true });
    const after = { ...(await readTerms(database.write, id)), source, source_id: sourceId };
    const about = { action: 'account.import', subject: id, accountId: id } as const;
    return { result: true, change: { ...about, after } };
  });
}

/** From the audit log, because accounts can be renamed here. */
async function nameAtImport(changes: AuditedChanges, id: string): Promise<unknown> {
  const query = { subject: id, action: 'account.import', limit: 1, cursor: null };
  const page = await listChanges(changes.unrecorded.read, query);
  return (page?.entries[0]?.after as { readonly name?: string } | undefined)?.name;
}

async function importKey(
  changes: AuditedChanges,
  { sourceId, result, ...key }: PlannedKey,
  { source, ledger, secret, id, accountId }: ImportOptions & Record<'id' | 'accountId', string>,
): Promise<Arrival> {
  const isHere = (await findKey(changes.unrecorded.read, { keyId: id })) !== null;
  if (isHere || !ledger) return { id, result: isHere ? 'here' : 'came' };
  const isNew = await changes.commit(async (database) => {
    const order = { ...key, id, accountId, isDisabled: result === 'disabled' };
    const nowMs = changes.clock.nowMs();
    const made = await insertMovedKey(database, digestKeyFrom(secret), order, nowMs);
    const about = { action: 'key.import', subject: id, accountId } as const;
    const change = made && { ...about, after: { ...made, source, source_id: sourceId } };
    return { result: made !== null, change };
  });
  if (isNew) return { id, result: 'came' };
  return { id, result: 'refused', why: 'its text is that of another key that is here' };
}
