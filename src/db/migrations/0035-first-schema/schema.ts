// The first schema, for each database. A later migration changes it, never an edit here.
// ../squashed-steps.ts says what becomes of databases that were made in steps.
import { accounts } from './accounts.ts';
import { activity } from './activity.ts';
import { administration } from './administration.ts';
import { charges } from './charges.ts';
import { guardsOn } from './guards.ts';
import { ledger } from './ledger.ts';
import { responses } from './responses.ts';
import { users } from './users.ts';
import { statementsOf, type Store } from './words.ts';

/** SQLite has none of these. The checks are not validated, as in databases made in steps. */
const onlyOnPostgres = `
create index ledgers_by_account on ledgers (account_id);

-- The state that gateways share. Unlogged, because it describes only the present, is rewritten
-- constantly, and may be empty after a crash.
create unlogged table rate_buckets (
  id ID primary key, level double precision not null, per_minute double precision not null,
  updated_at_ms double precision not null
) HOT;
create unlogged table concurrency_slots (id ID primary key, holders jsonb not null) HOT;

-- Bodies are compressed and encrypted already.
alter table kept_bodies alter column request set storage external;
alter table kept_bodies alter column answer set storage external;

alter table account_members add constraint account_members_role_check
  check (role in ROLES) not valid;
alter table invitations add constraint invitations_role_check check (role in ROLES) not valid;
alter table latency_sums add constraint latency_sums_grouped_by_check
  check (grouped_by in GROUPS) not valid;
`;

export function firstSchema(store: Store): readonly string[] {
  const tables = [accounts, ledger, charges[store], responses, activity, users, administration];
  const last = store === 'postgres' ? onlyOnPostgres : '';
  return [...statementsOf(tables.join('') + last, store), ...guardsOn(store)];
}
