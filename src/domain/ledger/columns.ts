// The ledger's tables: each column with its type, and its field in the ledger's record. Both stores
// save, and all readers read, by these descriptions. Seals have digests of columns in this order
// (seals/digests.ts), so a new column comes last.
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
import { defineTable, replacing } from './table.ts';

export type EntryRow = Selectable<Tables['entries']>;
export type ChargeRow = Selectable<Tables['charges']>;
export type HoldRow = Selectable<Tables['holds']>;
export type WindowRow = Selectable<Tables['key_windows']>;

/** `frozen` is the account's. */
export type LedgerRow = Selectable<Tables['ledgers']> & { readonly frozen: 0 | 1 };

export const ledgersTable = defineTable<LedgerNumbers, Omit<LedgerState, 'isFrozen'>>('ledgers', {
  posted_micros: ['bigint', 'postedMicros'],
  held_micros: ['bigint', 'heldMicros'],
  input_tokens: ['bigint', 'inputTokens'],
  output_tokens: ['bigint', 'outputTokens'],
  last_entry_at_ms: ['bigint', 'lastEntryAtMs'],
});
type LedgerNumbers = Omit<LedgerRow, 'id' | 'account_id' | 'mode' | 'frozen'>;

export function ledgerOfRow(row: LedgerNumbers & Pick<LedgerRow, 'frozen'>): LedgerState {
  return { ...ledgersTable.recordOf(row), isFrozen: row.frozen === 1 };
}

export const entriesTable = defineTable<Omit<EntryRow, 'seq'>, Entry>('entries', {
  id: 'text',
  kind: 'text',
  ledger_id: ['text', 'ledgerId'],
  key_id: ['text', 'keyId'],
  posted_delta_micros: ['bigint', 'postedDeltaMicros'],
  held_delta_micros: ['bigint', 'heldDeltaMicros'],
  loss_micros: ['bigint', 'lossMicros'],
  provoked: ['flag', 'isCausedByAccount'],
  available_micros: ['bigint', 'availableMicros'],
  day: 'text',
  month: 'text',
  daily_cap_micros: ['bigint', 'dailyCapMicros'],
  monthly_cap_micros: ['bigint', 'monthlyCapMicros'],
  note: 'text',
  created_at_ms: ['bigint', 'createdAtMs'],
});

export const chargesTable = defineTable<ChargeRow, Charge>('charges', {
  id: 'text',
  ledger_id: ['text', 'ledgerId'],
  key_id: ['text', 'keyId'],
  model_id: ['text', 'modelId'],
  model_name: ['text', 'modelName'],
  endpoint: 'text',
  provider: 'text',
  input_tokens: ['bigint', 'usage.inputTokens'],
  cache_read_tokens: ['bigint', 'usage.cacheReadTokens'],
  cache_write_tokens: ['bigint', 'usage.cacheWriteTokens'],
  cache_write_1h_tokens: ['bigint', 'usage.cacheWrite1hTokens'],
  output_tokens: ['bigint', 'usage.outputTokens'],
  reasoning_tokens: ['bigint', 'usage.reasoningTokens'],
  web_searches: ['bigint', 'webSearches'],
  images: 'bigint',
  usage_source: ['text', 'usageSource'],
  price_version: ['text', 'priceVersion'],
  price_id: ['text', 'priceId'],
  upstream_cost_micros: ['bigint', 'upstreamCostMicros'],
  ending: 'text',
  streamed: 'flag',
  cost_micros: ['bigint', 'costMicros'],
  loss_micros: ['bigint', 'lossMicros'],
  hold_micros: ['bigint', 'holdMicros'],
  attempts: 'bigint',
  duration_ms: ['bigint', 'durationMs'],
  first_byte_ms: ['bigint', 'firstByteMs'],
  created_at_ms: ['bigint', 'createdAtMs'],
  conversation: 'text',
  cache_marks: ['text', 'cacheMarks'],
  rank_routes: ['bigint', 'rankRoutes'],
});

export const chargeTagsTable = defineTable<Tables['charge_tags']>('charge_tags', {
  ledger_id: 'text',
  tag: 'text',
  created_at_ms: 'bigint',
  charge_id: 'text',
});

export const holdsTable = defineTable<HoldRow, Hold>('holds', {
  id: 'text',
  ledger_id: ['text', 'ledgerId'],
  key_id: ['text', 'keyId'],
  amount_micros: ['bigint', 'amountMicros'],
  day: 'text',
  month: 'text',
  daily_cap_micros: ['bigint', 'dailyCapMicros'],
  monthly_cap_micros: ['bigint', 'monthlyCapMicros'],
  owner: 'text',
  cost_at_once_micros: ['bigint', 'likelyCost.atOnceMicros'],
  cost_per_second_micros: ['bigint', 'likelyCost.perSecondMicros'],
  created_at_ms: ['bigint', 'createdAtMs'],
});

export const windowsTable = defineTable<WindowRow, Window>(
  'key_windows',
  {
    key_id: ['text', 'keyId'],
    kind: 'text',
    starts_on: ['text', 'startsOn'],
    settled_micros: ['bigint', 'settledMicros'],
    held_micros: ['bigint', 'heldMicros'],
  },
  replacing('key_id, kind, starts_on', ['settled_micros', 'held_micros']),
);

export const pricesTable = defineTable<KeptPrice>(
  'prices',
  { id: 'text', terms: 'text' },
  'on conflict do nothing',
);

const worth = {
  cost_micros: ['bigint', 'worth.costMicros'],
  input_tokens: ['bigint', 'worth.inputTokens'],
  output_tokens: ['bigint', 'worth.outputTokens'],
} as const;
const answer = {
  content_type: ['text', 'contentType'],
  headers: 'text',
  body: 'bytes',
  expires_at_ms: ['bigint', 'expiresAtMs'],
  ...worth,
} as const;
const answerColumns = Object.keys(answer);

/** An answer replaces the claim of the same request, but of no other. */
export const responsesTable = defineTable<Tables['idempotent_responses'], StoredResponse>(
  'idempotent_responses',
  {
    key_id: ['text', 'keyId'],
    key_digest: ['text', 'keyDigest'],
    fingerprint: 'text',
    state: 'text',
    owner: 'text',
    request_id: ['text', 'requestId'],
    status: 'bigint',
    stored_at_ms: ['bigint', 'storedAtMs'],
    ...answer,
  },
  `${replacing('key_id, key_digest', ['state', 'status', 'stored_at_ms', ...answerColumns])}
    where idempotent_responses.request_id = excluded.request_id`,
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
  {
    account_id: ['text', 'accountId'],
    digest: 'text',
    generation: 'bigint',
    size_bytes: ['bigint', 'sizeBytes'],
    created_at_ms: ['bigint', 'createdAtMs'],
    ...answer,
  },
  replacing('account_id, digest', ['generation', 'size_bytes', 'created_at_ms', ...answerColumns]),
);

/**
 * Join condition for a new answer, called `row`: an account that was purged in the meantime, or
 * stores no answers, matches nothing.
 */
export const accountStoresAnswer = `accounts.id = row.account_id and accounts.cache_generation = row.generation
  and accounts.retain_responses = 1`;

export const auditLogTable = defineTable<Tables['audit_log'], AuditRow>('audit_log', {
  id: 'text',
  actor_kind: 'text',
  actor_id: 'text',
  actor_name: 'text',
  address: 'text',
  account_id: 'text',
  action: 'text',
  subject: 'text',
  before: 'text',
  after: 'text',
  created_at_ms: 'bigint',
});
