// The ledger's tables and their records. Both stores save, and all readers read, by these.
import type { Selectable } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import type { KeptPrice } from '../../terms/price-terms.ts';
import type {
  CachedResponse,
  Charge,
  Entry,
  Hold,
  LedgerState,
  StoredResponse,
  Window,
} from './book.ts';
import type { AuditRow } from './commands.ts';
import { defineRows, defineTable, replacing } from './table.ts';

export type EntryRow = Selectable<Tables['entries']>;
export type ChargeRow = Selectable<Tables['charges']>;
export type HoldRow = Selectable<Tables['holds']>;
export type WindowRow = Selectable<Tables['key_windows']>;

/** `frozen` is the account's. */
export type LedgerRow = Selectable<Tables['ledgers']> & { readonly frozen: 0 | 1 };

type LedgerNumbers = Omit<LedgerRow, 'id' | 'account_id' | 'mode' | 'frozen'>;
export const ledgersTable = defineTable<LedgerNumbers, Omit<LedgerState, 'isFrozen'>>(
  'ledgers',
  {},
  { without: ['id', 'account_id', 'mode'] },
);

export function ledgerOfRow(row: LedgerNumbers & Pick<LedgerRow, 'frozen'>): LedgerState {
  return { ...ledgersTable.recordOf(row), isFrozen: row.frozen === 1 };
}

export const entriesTable = defineTable<Omit<EntryRow, 'seq'>, Entry>('entries', {
  provoked: 'isCausedByAccount',
});

export const chargesTable = defineTable<ChargeRow, Charge>('charges', {
  input_tokens: 'usage.inputTokens',
  cache_read_tokens: 'usage.cacheReadTokens',
  cache_write_tokens: 'usage.cacheWriteTokens',
  cache_write_1h_tokens: 'usage.cacheWrite1hTokens',
  output_tokens: 'usage.outputTokens',
  reasoning_tokens: 'usage.reasoningTokens',
});

export const chargeTagsTable = defineRows<Tables['charge_tags']>('charge_tags');

export const holdsTable = defineTable<HoldRow, Hold>('holds', {
  cost_at_once_micros: 'likelyCost.atOnceMicros',
  cost_per_second_micros: 'likelyCost.perSecondMicros',
});

export const windowsTable = defineTable<WindowRow, Window>(
  'key_windows',
  {},
  { conflict: replacing('key_windows') },
);

export const pricesTable = defineRows<KeptPrice>('prices', { conflict: 'on conflict do nothing' });

const worth = {
  cost_micros: 'worth.costMicros',
  input_tokens: 'worth.inputTokens',
  output_tokens: 'worth.outputTokens',
} as const;

/** An answer replaces the claim of the same request, but of no other. */
export const responsesTable = defineTable<Tables['idempotent_responses'], StoredResponse>(
  'idempotent_responses',
  worth,
  {
    conflict: `${replacing('idempotent_responses', ['fingerprint', 'owner', 'request_id'])}
    where idempotent_responses.request_id = excluded.request_id`,
  },
);

/**
 * SQL for the body of a new answer, called `row`. It is null when the key's account no longer
 * stores answers, which may have changed after the request began.
 */
export const bodyIfRetained = `case when (select accounts.retain_responses
  from api_keys join accounts on accounts.id = api_keys.account_id where api_keys.id = row.key_id) = 1 then row.body end`;

/** An answer replaces an older one to the same request. */
export const cachedTable = defineTable<Tables['cached_responses'], CachedResponse>(
  'cached_responses',
  worth,
  { conflict: replacing('cached_responses') },
);

/**
 * Join condition for a new answer, called `row`: an account that was purged in the meantime, or
 * stores no answers, matches nothing.
 */
export const accountStoresAnswer = `accounts.id = row.account_id and accounts.cache_generation = row.generation
  and accounts.retain_responses = 1`;

export const auditLogTable = defineRows<AuditRow>('audit_log');
