// The tables as TypeScript sees them, the same on every database. Times are whole Unix milliseconds; money is whole microdollars;
// flags are 0 or 1, because SQLite has no boolean. The migrations make the tables.
import type { ColumnType, Generated } from 'kysely';
import type { Micros } from '../lib/money.ts';

export type Tables = {
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  ledgers: LedgersTable;
  key_windows: KeyWindowsTable;
  holds: HoldsTable;
  hold_owners: HoldOwnersTable;
  entries: EntriesTable;
  charges: ChargesTable;
  charge_days: ChargeDaysTable;
  loss_days: LossDaysTable;
  prices: PricesTable;
  account_model_prices: AccountModelPricesTable;
  idempotent_responses: IdempotentResponsesTable;
  cached_responses: CachedResponsesTable;
  activity_days: ActivityDaysTable;
  recent_errors: RecentErrorsTable;
  key_uses: KeyUsesTable;
  provider_hours: ProviderHoursTable;
  revisions: RevisionsTable;
  secrets: SecretsTable;
  audit_log: AuditLogTable;
  top_ups: TopUpsTable;
  payments: PaymentsTable;
  payment_events: PaymentEventsTable;
  payment_bookings: PaymentBookingsTable;
  balance_warnings: BalanceWarningsTable;
  users: UsersTable;
  user_sessions: UserSessionsTable;
  user_credentials: UserCredentialsTable;
  user_verifications: UserVerificationsTable;
  user_two_factors: UserTwoFactorsTable;
  used_codes: UsedCodesTable;
  account_members: AccountMembersTable;
  invitations: InvitationsTable;
  sign_in_links: SignInLinksTable;
  attempts: AttemptsTable;
};

type Mode = 'live' | 'test';
/** In an account: each may do what the one before may. */
export type Role = 'member' | 'admin' | 'owner';
type Flag = 0 | 1;

export type AccountsTable = {
  id: string;
  name: string;
  created_at_ms: number;
  frozen: Generated<Flag>;
  /** Times the list price; 1 000 000 is the list price itself. */
  price_multiplier_ppm: Generated<number>;
  /** Whether answers are kept for it: for replays and in the cache. */
  retain_responses: Generated<Flag>;
  /** Raised by a purge: what was cached under a lower one is not served any more. */
  cache_generation: Generated<number>;
  /** Over all keys of one mode together; null: the configuration's default. */
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  concurrent_requests: number | null;
  /** As a key's. */
  allowed_addresses: string | null;
};

export type ApiKeysTable = {
  id: string;
  account_id: string;
  mode: Mode;
  name: string;
  /** The key itself is never stored. */
  digest: string;
  /** The key id of the secret that the digest was made with; null: made before that was kept. */
  secret_id: string | null;
  /** What people recognise the key by, as `tg_live_…x4Qz`. */
  hint: string;
  /** null: no cap; 0: nothing is allowed. */
  daily_cap_micros: Micros | null;
  monthly_cap_micros: Micros | null;
  /** A JSON array of model ids; null: all models. */
  models: string | null;
  /** null: the configuration's default; 0: nothing is allowed. */
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  concurrent_requests: number | null;
  /** A JSON array of addresses and CIDR ranges; null: it may be used from anywhere. */
  allowed_addresses: string | null;
  /** null: it does not expire. */
  expires_at_ms: number | null;
  created_at_ms: number;
  /** null: it is not disabled. */
  disabled_at_ms: number | null;
  revoked_at_ms: number | null;
};

/** The balances of one account in one mode, kept beside the entries that they are the sum of. */
type LedgersTable = {
  /** `<account id>:<mode>` */
  id: string;
  account_id: string;
  mode: Mode;
  posted_micros: Generated<Micros>;
  held_micros: Generated<Micros>;
  /** All time, cached input included. */
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  /** The time of its last entry, which no later entry is dated before, whatever the clock says. */
  last_entry_at_ms: Generated<number>;
};

/** What one key has spent and holds in one UTC day or month: what its caps are compared with. */
type KeyWindowsTable = {
  key_id: string;
  kind: 'day' | 'month';
  /** `2026-11-21` or `2026-11` */
  starts_on: string;
  settled_micros: Micros;
  held_micros: Micros;
};

/** The open holds only: a hold that is settled, released or expired leaves this table and lives on in the entries. */
export type HoldsTable = {
  id: string;
  ledger_id: string;
  key_id: string;
  amount_micros: Micros;
  /** The windows and caps that were in force when the hold was made; its settlement is judged by the same. */
  day: string;
  month: string;
  daily_cap_micros: Micros | null;
  monthly_cap_micros: Micros | null;
  owner: string;
  /** What the request has probably cost the operator from its start on, and with each second that it runs. */
  cost_at_once_micros: Micros;
  cost_per_second_micros: Micros;
  created_at_ms: number;
};

/** One lease for each running process. A hold whose owner has no row here belongs to nobody and is given back. */
type HoldOwnersTable = {
  owner: string;
  host: string;
  pid: number;
  /** Tells a process from a later one that was given the same pid. */
  process_started_at_ms: number;
  expires_at_ms: number;
};

export type EntryKind = 'reserve' | 'extend' | 'settle' | 'release' | 'expire' | 'credit' | 'debit';

/** The journal: everything that ever changed a balance, append-only. Every other number of the ledger can be recomputed from it. */
export type EntriesTable = {
  seq: Generated<number>;
  /**
   * The hold's id for the kinds that concern a hold, with `+1`, `+2` … behind it for its extensions; else the command's own. With the
   * kind it is unique.
   */
  id: string;
  kind: EntryKind;
  ledger_id: string;
  key_id: string | null;
  posted_delta_micros: Micros;
  held_delta_micros: Micros;
  loss_micros: Micros;
  /** Whether the account could provoke the loss: only such losses count against its loss budget. */
  provoked: 0 | 1;
  /** Available right after this entry: what the first answer to its command said. */
  available_micros: Micros;
  day: string | null;
  month: string | null;
  /** On `reserve` only. */
  daily_cap_micros: Micros | null;
  monthly_cap_micros: Micros | null;
  note: string | null;
  created_at_ms: number;
};

/** One row for each settled request, append-only: the usage record, and enough to recompute the charge. */
export type ChargesTable = {
  /** The hold's id, which is the request's. */
  id: string;
  ledger_id: string;
  key_id: string;
  model_id: string;
  model_name: string;
  endpoint: string;
  provider: string;
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  cache_write_1h_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  /** That the provider ran, each at a price of its own. */
  web_searches: number;
  images: number;
  usage_source: 'upstream' | 'estimate';
  price_version: string;
  /** null: made before prices were kept. */
  price_id: string | null;
  upstream_cost_micros: Micros;
  ending: 'complete' | 'cut-off';
  streamed: Flag;
  /** What was charged. */
  cost_micros: Micros;
  /** The part of the cost that neither balance nor caps had room for. */
  loss_micros: Micros;
  hold_micros: Micros;
  /** How many calls to providers it took; 1 where it was not counted yet. */
  attempts: Generated<number>;
  /** From the request's arrival to its settlement; null: made before it was kept. */
  duration_ms: number | null;
  /** From its arrival to the first piece of a stream; null: answered whole, or made before it was kept. */
  first_byte_ms: number | null;
  created_at_ms: number;
};

/** The provoked losses of a ledger by UTC day, summed in the transaction of each entry. */
type LossDaysTable = {
  ledger_id: string;
  day: string;
  provoked_micros: Micros;
  /** What of it an operator has forgiven: it does not count against the loss budget. */
  forgiven_micros: Generated<Micros>;
};

/** Sums of charges, kept in the transaction of each. A day is the UTC day of the charge, `2026-11-21`. */
export type ChargeDaysTable = {
  ledger_id: string;
  day: string;
  key_id: string;
  model_id: string;
  endpoint: string;
  requests: number;
  /** All input, that from a provider's cache included. */
  input_tokens: number;
  /** Of it, what was read from a provider's cache. */
  cached_tokens: number;
  output_tokens: number;
  images: number;
  cost_micros: Micros;
  upstream_cost_micros: Micros;
  loss_micros: Micros;
};

/** The terms that charges were made at, append-only; canonical/price-terms.ts writes and reads them. */
type PricesTable = {
  id: string;
  terms: string;
};

/** What an account pays for one model, instead of its own multiplier. */
type AccountModelPricesTable = {
  account_id: string;
  model_id: string;
  multiplier_ppm: number;
};

/** A request under an Idempotency-Key: while it runs, and for 24 hours what it was answered with. */
export type IdempotentResponsesTable = {
  key_id: string;
  /** Of the Idempotency-Key, whose own text is not kept. */
  key_digest: string;
  fingerprint: string;
  state: 'running' | 'stored';
  /** Who runs it, or ran it: a row that runs and whose owner has no lease is free. */
  owner: string;
  request_id: string;
  /** The rest is null while it runs. */
  status: number | null;
  content_type: string | null;
  /** JSON. */
  headers: string | null;
  /** Compressed and encrypted; null: too long to be kept. */
  body: Uint8Array | null;
  stored_at_ms: number | null;
  expires_at_ms: number | null;
  /** What the answer was charged at when it was made, and its tokens; null: not known. */
  cost_micros: Micros | null;
  input_tokens: number | null;
  output_tokens: number | null;
};

/** The answers of the content cache. */
export type CachedResponsesTable = {
  account_id: string;
  /** Of everything that the answer depends on; cache/cache-name.ts. */
  digest: string;
  /** The account's when the request began. */
  generation: number;
  content_type: string;
  /** JSON. */
  headers: string;
  /** Compressed and encrypted. */
  body: Uint8Array;
  /** What the row takes, for the bound of them all. */
  size_bytes: number;
  created_at_ms: number;
  expires_at_ms: number;
  /** What the answer was charged at when it was made, and its tokens; null: not known. */
  cost_micros: Micros | null;
  input_tokens: number | null;
  output_tokens: number | null;
};

/** Sums of the requests that were not charged, by UTC day. Counted in memory first: a process that is killed loses seconds of them. */
export type ActivityDaysTable = {
  account_id: string;
  mode: Mode;
  day: string;
  key_id: string;
  /** '': the request failed before its model was known. */
  model_id: string;
  /** `hit`, `idempotent-replay`, or the code of an error. */
  outcome: string;
  requests: number;
  /** What the answers that were given once more had cost, as far as it is known; likewise their tokens. */
  saved_micros: Micros;
  input_tokens: number;
  output_tokens: number;
};

/** The last errors that an account was told. */
export type RecentErrorsTable = {
  account_id: string;
  mode: Mode;
  created_at_ms: number;
  request_id: string;
  key_id: string;
  /** '': the request failed before its model was known. */
  model_id: string;
  /** As its route is written: `/v1/chat/completions`. */
  path: string;
  code: string;
};

/** When a request last came with a key, whatever became of it. */
type KeyUsesTable = {
  key_id: string;
  last_used_at_ms: number;
};

/** How providers answered, by UTC hour: a histogram, whose buckets activity/latency.ts defines. */
export type ProviderHoursTable = {
  /** `2026-11-21T12` */
  hour: string;
  provider: string;
  /** Of a stream the time to its first piece is counted, of a whole answer all of it. */
  kind: 'stream' | 'whole';
  ending: 'good' | 'bad' | 'refused' | 'unknown';
  latency_bucket: number;
  calls: number;
};

/** Counters that triggers raise; a process polls them to learn that what it keeps in memory is out of date. */
type RevisionsTable = {
  name: string;
  value: number;
};

/** The installation's secrets that these books need, by key id: each that was the current one, until the operator ends it. */
type SecretsTable = {
  id: string;
  /** When a gateway first started with it as the current one. */
  current_since_ms: number;
};

/** Every change that was made in the dashboard or by a command, append-only. */
export type AuditLogTable = {
  id: string;
  actor_kind: 'user' | 'command' | 'service';
  actor_id: string;
  actor_name: string;
  address: string | null;
  account_id: string | null;
  action: string;
  subject: string;
  /** JSON objects of the fields that changed. */
  before: string | null;
  after: string | null;
  created_at_ms: number;
};

/** What owners asked to pay in. */
export type TopUpsTable = {
  /** Also what Stripe tells us with the payment. */
  id: string;
  account_id: string;
  user_id: string;
  amount_micros: Micros;
  state: 'open' | 'processing' | 'failed' | 'expired' | 'paid';
  /** Stripe's id of the checkout that was made for it; null: Stripe has not answered yet. */
  checkout_id: string | null;
  /** Where it is paid. */
  checkout_url: string | null;
  created_at_ms: number;
};

/** What was paid at Stripe, or may still be: refunds and disputes can be heard of first. */
export type PaymentsTable = {
  /** Stripe's id of the payment intent. */
  id: string;
  top_up_id: string | null;
  /** null: not known to be anybody's. */
  account_id: string | null;
  /** null, with the next two: not known to be paid yet. */
  amount_micros: Micros | null;
  currency: string | null;
  paid_at_ms: number | null;
  /** Why it was not credited by itself. */
  problem: 'unknown-account' | 'wrong-amount' | 'wrong-currency' | null;
  /** What an operator made of that. */
  decision: 'assigned' | 'dismissed' | null;
  decided_note: string | null;
  /** Raised by everyone who decides on the payment: its row is locked by that. */
  revision: Generated<number>;
};

/** What Stripe said of payments, append-only; billing/position.ts reads it. */
type PaymentEventsTable = {
  /** Stripe's. */
  id: string;
  payment_id: string;
  /** Stripe's: `charge.refunded`. */
  type: string;
  /** The checkout, charge, refund or dispute. */
  object_id: string;
  status: string | null;
  amount_micros: Micros;
  currency: string;
  /** When the object was made at Stripe. */
  began_at_ms: number;
  /** When Stripe says it. */
  happened_at_ms: number;
  received_at_ms: number;
};

/** What the ledger is told of payments: decided here, then booked. */
export type PaymentBookingsTable = {
  payment_id: string;
  /** From 1. */
  seq: number;
  part: 'payment' | 'refund' | 'dispute';
  account_id: string;
  /** Credited, or debited below 0. */
  delta_micros: Micros;
  decided_at_ms: number;
  /** null: the ledger has not confirmed it. */
  booked_at_ms: number | null;
};

/** Of accounts whose owners want to know when the live balance goes below an amount. */
type BalanceWarningsTable = {
  account_id: string;
  threshold_micros: Micros;
  /** Until then a gateway is about to send the warning. */
  claimed_until_ms: Generated<number>;
  /** null: the balance was not below it since it was last above. */
  warned_at_ms: number | null;
};

/** Of the sign-in library: PostgreSQL reads a Date, SQLite an ISO text; both take an ISO text. */
type LibraryTime = ColumnType<Date | string, string, string>;
/** Of the sign-in library: PostgreSQL reads a boolean, SQLite 0 or 1; both take 0 or 1. */
type LibraryFlag = ColumnType<boolean | Flag | null, Flag, Flag>;

type UsersTable = {
  id: string;
  name: string;
  /** In lower case. */
  email: string;
  email_verified: LibraryFlag;
  two_factor_enabled: ColumnType<boolean | Flag | null, Flag | undefined, Flag>;
  created_at: LibraryTime;
  updated_at: LibraryTime;
  is_operator: Generated<Flag>;
  /** The account that was made when the user signed up; null for who was invited. */
  own_account_id: Generated<string | null>;
  /** What that account is credited once the e-mail address is verified; 0 when it was. */
  promised_credit_micros: Generated<number>;
};

type UserSessionsTable = {
  id: string;
  user_id: string;
  /** SHA-256 of what the cookie holds. */
  token: string;
  ip_address: string | null;
  user_agent: string | null;
  created_at: LibraryTime;
  /** When it was last renewed. */
  updated_at: LibraryTime;
  expires_at: LibraryTime;
};

/** How a user signs in: a row for the password (`credential`), one for each provider. */
type UserCredentialsTable = {
  id: string;
  user_id: string;
  provider_id: string;
  account_id: string;
  /** Of `credential`: argon2id, with its parameters and salt. */
  password: string | null;
  created_at: LibraryTime;
  updated_at: LibraryTime;
};

/** What the sign-in library remembers between two steps of a sign-in. */
type UserVerificationsTable = {
  /** A user's id, or JSON. */
  value: string;
  expires_at: LibraryTime;
};

type UserTwoFactorsTable = {
  user_id: string;
  /** Encrypted. */
  secret: string;
  /** A JSON list of digests. */
  backup_codes: string;
};

/** Codes of the second factor that were used, for as long as they would be right once more. */
type UsedCodesTable = {
  user_id: string;
  code: string;
  used_at_ms: number;
};

type AccountMembersTable = {
  account_id: string;
  user_id: string;
  role: Role;
  created_at_ms: number;
};

type InvitationsTable = {
  id: string;
  account_id: string;
  email: string;
  role: Role;
  token_digest: string;
  /** Of a second link, which went to the address alone: following it proves the address. null: there is none. */
  mailed_token_digest: string | null;
  /** null: an operator, by command. */
  invited_by: string | null;
  created_at_ms: number;
  expires_at_ms: number;
  accepted_at_ms: number | null;
};

/** Links that work once; only a digest of what they carry is kept. */
type SignInLinksTable = {
  token_digest: string;
  kind: 'first-run' | 'password-reset' | 'verify-email';
  user_id: string | null;
  /** Of `verify-email`: the address that following the link proves. */
  email: string | null;
  expires_at_ms: number;
  used_at_ms: number | null;
};

/** How often something was tried that is slowed down after a while; `subject` says what, and for whom. */
type AttemptsTable = {
  subject: string;
  count: number;
  started_at_ms: number;
  blocked_until_ms: number;
};
