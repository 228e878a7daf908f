// What operators are told of: losses, backups, models that end, routes out of use.
import type { Database } from '../../db/database.ts';
import { type NewEvent, writeNewEvents } from '../../domain/alerts/outbox.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { endingModels } from '../../domain/catalog/check-catalog.ts';
import { accountIdOf } from '../../domain/ledger/commands.ts';
import { readLossStandings } from '../../domain/ledger/reports/loss-budget.ts';
import type { RouteState } from '../../gateway/calling/health.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { dayMs, dayOf, hourMs } from '../../lib/utc-time.ts';
import { readLastBackup } from '../changes/backups.ts';
import { backupOldDays } from '../changes/set-up-findings.ts';

type Looked = {
  readonly database: Database;
  readonly gateway: Pick<Gateway, 'config' | 'hosts'>;
  readonly nowMs: number;
};

const endsSoonDays = 30;

/** Backups that are overdue, and models that end. */
export async function tellOfService(looked: Looked): Promise<void> {
  const events = [...(await backupEvents(looked)), ...modelEvents(looked)];
  await writeNewEvents(looked.database, events, looked.nowMs);
}

/** Accounts whose new live requests are refused for their losses. */
export async function tellLosses({ database, gateway, nowMs }: Looked): Promise<void> {
  const { limits } = gateway.config;
  const standings = await readLossStandings(database.read, { limits, nowMs });
  const exceeded = [...standings].filter(
    ([ledgerId, { isExceeded }]) => isExceeded && ledgerId.endsWith(':live'),
  );
  const ids = exceeded.map(([ledgerId]) => accountIdOf(ledgerId));
  const names = new Map((await findAccounts(database.read, ids)).map(({ id, name }) => [id, name]));
  const events = exceeded.map(([, standing], index): NewEvent => {
    const accountId = ids[index]!;
    const resets_at = isoTimeOf(standing.resetsAtMs)!;
    const about = { account_id: accountId, account_name: names.get(accountId) ?? accountId };
    const amounts = { lost_micros: standing.causedMicros, budget_micros: standing.budgetMicros };
    const onceKey = `losses ${accountId} ${resets_at}`;
    return {
      type: 'losses.exceeded',
      data: { ...about, ...amounts, resets_at },
      accountId,
      onceKey,
    };
  });
  await writeNewEvents(database, events, nowMs);
}

/** Once a week while it is overdue. */
async function backupEvents({ database, nowMs }: Looked): Promise<readonly NewEvent[]> {
  const lastMs = await readLastBackup(database.read);
  const accounts = database.read.selectFrom('accounts');
  const first = accounts.select(({ fn }) => fn.min('created_at_ms').as('ms')).executeTakeFirst();
  const sinceMs = lastMs ?? (await first)?.ms ?? nowMs;
  const days = Math.floor((nowMs - sinceMs) / dayMs);
  if (days <= backupOldDays) return [];
  const data = { last_backup_at: isoTimeOf(lastMs), days };
  const onceKey = `backup ${sinceMs} ${Math.floor(days / 7)}`;
  return [{ type: 'backup.overdue', data, accountId: null, onceKey }];
}

function modelEvents({ gateway, nowMs }: Looked): readonly NewEvent[] {
  return endingModels(gateway.hosts.catalog)
    .filter(({ retiresAtMs: atMs }) => atMs > nowMs && atMs < nowMs + endsSoonDays * dayMs)
    .map(({ id, retiresAtMs, successor }) => ({
      type: 'model.ends',
      data: { model: id, ends_at: new Date(retiresAtMs).toISOString(), successor },
      accountId: null,
      onceKey: `model ${id} ${dayOf(retiresAtMs)}`,
    }));
}

/**
 * Returns a look at the circuit breakers of this process. A route is told of when it goes out of use, not
 * while it stays so, and once an hour by all gateways; a refused credential once for its provider.
 */
export function watchRoutes(): (looked: Looked) => Promise<void> {
  let known: ReadonlySet<string> = new Set();
  return async ({ database, gateway, nowMs }) => {
    const out = gateway.hosts.routing.health.states().filter(({ state }) => state !== 'in-use');
    const isNew = (route: RouteState) => !known.has(nameOf(route));
    await writeNewEvents(
      database,
      out.filter(isNew).map((route) => routeEvent(route, nowMs)),
      nowMs,
    );
    known = new Set(out.map(nameOf));
  };
}

function nameOf({ provider, upstreamModel, reason }: RouteState): string {
  return [reason, provider, upstreamModel].join(' ');
}

function routeEvent(route: RouteState, nowMs: number): NewEvent {
  const { provider, upstreamModel: model, reason, ejectedUntilMs } = route;
  const hour = Math.floor(nowMs / hourMs);
  const about = { accountId: null, onceKey: `route ${nameOf(route)} ${hour}` };
  if (reason !== 'refused') {
    const data = { provider, model, until: isoTimeOf(ejectedUntilMs)! };
    return { type: 'route.out_of_use', data, ...about };
  }
  const onceKey = `credential ${provider} ${hour}`;
  return { type: 'credential.refused', data: { provider, model }, accountId: null, onceKey };
}
