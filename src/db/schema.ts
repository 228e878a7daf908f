// The database tables as TypeScript types, the same for both databases. Times are Unix
// milliseconds, money is whole microdollars, and flags are 0 or 1 because SQLite has no boolean.
// The migrations create the tables.
import type { ColumnType, Generated, Kysely } from 'kysely';
import type { Micros } from '../lib/money.ts';

type Mode = 'live' | 'test';
/** Roles in an account, in ascending order: each may do everything that the previous one may. */
export type Role = 'viewer' | 'member' | 'admin' | 'owner';
type Flag = 0 | 1;

export type EntryKind = 'reserve' | 'extend' | 'settle' | 'release' | 'expire' | 'credit' | 'debit';

/** The same as in terms/card-problem.ts. */
type CardProblem =
  | 'declined'
  | 'authentication-required'
  | 'expired'
  | 'refused'
  | 'returned'
  | 'no-answer';

/**
 * A time column of the sign-in library: PostgreSQL returns a Date, SQLite an ISO text; both accept
 * an ISO text.
 */
type LibraryTime = ColumnType<Date | string, string, string>;
/**
 * A flag column of the sign-in library: PostgreSQL returns a boolean, SQLite 0 or 1; both accept 0
 * or 1.
 */
type LibraryFlag = ColumnType<boolean | Flag | null, Flag, Flag>;

/** A connection of one purpose, or a transaction. */
export type Db = Kysely<Tables>;

export type Tables = {
  accounts: {
    id: string;
    name: string;
    created_at_ms: number;
    frozen: Generated<Flag>;
    /** A factor on list prices; 1 000 000 means the list price. */
    price_multiplier_ppm: Generated<number>;
    /** 1 when answers are stored, for replays and the cache. */
    retain_responses: Generated<Flag>;
    /** 1: users without a second factor may not use the account in the dashboard. */
    requires_second_factor: Generated<Flag>;
    /** Raised by a purge: answers cached under a lower generation are no longer served. */
    cache_generation: Generated<number>;
    /** Shared by all keys of one mode; null means the configured default. */
    requests_per_minute: number | null;
    tokens_per_minute: number | null;
    concurrent_requests: number | null;
    /** Same format as a key's. */
    allowed_addresses: string | null;
  };

  api_keys: {
    id: string;
    account_id: string;
    mode: Mode;
    name: string;
    /** The key itself is never stored. */
    digest: string;
    /** The key id of the secret that made the digest; null for keys older than this column. */
    secret_id: string | null;
    /** A display form for recognising the key: `tg_live_…x4Qz`. */
    hint: string;
    /** null means no cap; 0 allows nothing. */
    daily_cap_micros: Micros | null;
    monthly_cap_micros: Micros | null;
    /** A JSON array of model ids; null means all models. */
    models: string | null;
    /** A JSON array of `KeyScope`; null means all scopes. */
    scopes: string | null;
    /** null means the configured default; 0 allows nothing. */
    requests_per_minute: number | null;
    tokens_per_minute: number | null;
    concurrent_requests: number | null;
    /** A JSON array of addresses and CIDR ranges; null allows every address. */
    allowed_addresses: string | null;
    /** null: the key never expires. */
    expires_at_ms: number | null;
    /** For how many days the bodies of its requests are kept; null: they are not kept. */
    body_days: number | null;
    /** 0: prompts get no cache marks of Tollgate's own. */
    cache_marks: Generated<Flag>;
    created_at_ms: number;
    /** null: the key is enabled. */
    disabled_at_ms: number | null;
    revoked_at_ms: number | null;
  };

  /** One row per account and mode: balances, equal to the sums of the ledger's entries. */
  ledgers: {
    /** `<account id>:<mode>` */
    id: string;
    account_id: string;
    mode: Mode;
    posted_micros: Generated<Micros>;
    held_micros: Generated<Micros>;
    /** Since the ledger was created, cached input included. */
    input_tokens: Generated<number>;
    output_tokens: Generated<number>;
    /**
     * The time of the last entry. Later entries are never dated earlier, even if the clock goes back.
     */
    last_entry_at_ms: Generated<number>;
  };

  /** A key's spending and open holds in one UTC day or month, compared with the key's caps. */
  key_windows: {
    key_id: string;
    kind: 'day' | 'month';
    /** `2026-11-21` or `2026-11` */
    starts_on: string;
    settled_micros: Micros;
    held_micros: Micros;
  };

  /**
   * Open holds only. A hold that is settled, released or expired is deleted here and remains in the
   * entries.
   */
  holds: {
    id: string;
    ledger_id: string;
    key_id: string;
    amount_micros: Micros;
    /** The windows and caps at the time of the hold; its settlement uses the same ones. */
    day: string;
    month: string;
    daily_cap_micros: Micros | null;
    monthly_cap_micros: Micros | null;
    owner: string;
    /** The operator's likely cost of the request: at its start, and per second that it runs. */
    cost_at_once_micros: Micros;
    cost_per_second_micros: Micros;
    created_at_ms: number;
  };

  /**
   * One lease per running process. A hold whose owner has no row here is orphaned and is released.
   */
  hold_owners: {
    owner: string;
    host: string;
    pid: number;
    /** Distinguishes a process from a later one with the same pid. */
    process_started_at_ms: number;
    expires_at_ms: number;
  };

  /**
   * The append-only journal of every balance change. All other numbers of the ledger can be
   * recomputed from it.
   */
  entries: {
    seq: Generated<number>;
    /**
     * The hold's id for entries that concern a hold, with a suffix `+1`, `+2` … for extensions;
     * otherwise the command's id. Unique together with the kind.
     */
    id: string;
    kind: EntryKind;
    ledger_id: string;
    key_id: string | null;
    posted_delta_micros: Micros;
    held_delta_micros: Micros;
    loss_micros: Micros;
    /** 1 when the account could provoke the loss: only such losses count against its loss budget. */
    provoked: 0 | 1;
    /** The available balance right after this entry, as reported in the command's first response. */
    available_micros: Micros;
    /** On `reserve` only, except in rows of older versions. */
    day: string | null;
    month: string | null;
    /** On `reserve` only. */
    daily_cap_micros: Micros | null;
    monthly_cap_micros: Micros | null;
    note: string | null;
    created_at_ms: number;
  };

  /**
   * One row per settled request, append-only: the usage record, with enough data to recompute the
   * charge.
   */
  charges: {
    /** The id of the hold, which is also the request's id. */
    id: string;
    ledger_id: string;
    key_id: string;
    model_id: string;
    model_name: string;
    /** The wire format of the request, or what was sold: `images`, `web-search` … */
    endpoint: string;
    provider: string;
    input_tokens: number;
    cache_read_tokens: number;
    cache_write_tokens: number;
    cache_write_1h_tokens: number;
    output_tokens: number;
    reasoning_tokens: number;
    /** Searches that the provider ran, and images; each has its own price. */
    web_searches: number;
    images: number;
    usage_source: 'upstream' | 'estimate';
    /** The applied price: `effective_from`, tier, and the price of a search if there were any. */
    price_version: string;
    /** null: charged before prices were stored. */
    price_id: string | null;
    upstream_cost_micros: Micros;
    ending: 'complete' | 'cut-off';
    streamed: Flag;
    /** The amount charged. */
    cost_micros: Micros;
    /** The part of the cost that exceeded both the balance and the caps. */
    loss_micros: Micros;
    hold_micros: Micros;
    /** Provider calls made for the request; 1 for rows older than this column. */
    attempts: Generated<number>;
    /**
     * Milliseconds from the request's arrival to its settlement; null for rows older than this
     * column.
     */
    duration_ms: number | null;
    /**
     * Milliseconds from the request's arrival to the first chunk of a stream; null for whole answers
     * and for rows older than this column.
     */
    first_byte_ms: number | null;
    created_at_ms: number;
    /** A digest of the conversation's name; null: it has none, or the row is older than this column. */
    conversation: string | null;
    /** Who marked the prompt for the provider's cache; null: its provider needs no marks. */
    cache_marks: 'client' | 'gateway' | 'none' | null;
    /** Routes of the rank that could have served it; null: one. */
    rank_routes: number | null;
  };

  /**
   * Daily sums of charges, updated in the transaction of each charge. `day` is the charge's UTC day,
   * `2026-11-21`.
   */
  charge_days: {
    ledger_id: string;
    day: string;
    key_id: string;
    model_id: string;
    endpoint: string;
    requests: number;
    /** All input, including tokens read from a provider's cache. */
    input_tokens: number;
    /** The part read from a provider's cache. */
    cached_tokens: number;
    output_tokens: number;
    images: number;
    cost_micros: Micros;
    upstream_cost_micros: Micros;
    loss_micros: Micros;
  };

  /** Tags of charges, one row each. Removed with their charges. */
  charge_tags: {
    ledger_id: string;
    /** `project=alpha` or a word. */
    tag: string;
    /** The charge's time and id. */
    created_at_ms: number;
    charge_id: string;
  };

  /** Sums of charges by tag, UTC day, key and model, written with each charge that has tags. */
  tag_days: {
    ledger_id: string;
    tag: string;
    day: string;
    key_id: string;
    model_id: string;
    requests: number;
    /** All input, including tokens read from a provider's cache. */
    input_tokens: number;
    output_tokens: number;
    cost_micros: Micros;
  };

  /** Provoked losses of a ledger by UTC day, updated in the transaction of each entry. */
  loss_days: {
    ledger_id: string;
    day: string;
    provoked_micros: Micros;
    /** The part that an operator has forgiven; it does not count against the loss budget. */
    forgiven_micros: Generated<Micros>;
  };

  /** Days of the journal that are over: append-only, each chained to the one before. */
  sealed_days: {
    /** The last UTC day that it covers, `2026-11-21`. */
    day: string;
    /** The end of the day, exclusive. */
    until_ms: number;
    /** Where the journal goes on, see `Position` in domain/ledger/seals/journal.ts. `ahead` is JSON. */
    after_seq: number;
    last_seq: number;
    ahead: string;
    /** The entries and charges that it covers and the one before does not, and their SHA-256. */
    entries: number;
    charges: number;
    entries_digest: string;
    charges_digest: string;
    /**
     * SHA-256 of the tags of its charges; null: the seal is from before tags were sealed, and covers
     * none.
     */
    tags_digest: string | null;
    /** SHA-256 of the day's rows in `charge_days`, `loss_days` and, with a digest of tags, `tag_days`. */
    sums_digest: string;
    state_digest: string;
    /** '' for the first. */
    previous_digest: string;
    /** SHA-256 of the columns before. */
    digest: string;
    /** JSON: balances, holds and windows at its end. Only the newest has it. */
    state: string | null;
    sealed_at_ms: number;
    /** Set before the first of its charges is removed, and after the last. */
    removing_since_ms: number | null;
    removed_at_ms: number | null;
  };

  /** One row: who seals days now, and whether the clock is trusted. */
  sealing: {
    id: number;
    /** The clock at the last look; null before the first. */
    trusted_ms: number | null;
    /** Set while the clock is hours ahead of what was expected. */
    doubted_since_ms: number | null;
    doubted_at_ms: number | null;
    owner: string | null;
    claimed_until_ms: number;
    /** The end of the newest day that was sealed or is being sealed; nothing is dated before it. */
    closed_until_ms: number;
  };

  /** The price terms of charges, append-only; terms/price-terms.ts reads and writes them. */
  prices: { id: string; terms: string };

  /** An account's multiplier for one model, which replaces the account's own. */
  account_model_prices: {
    account_id: string;
    model_id: string;
    multiplier_ppm: number;
  };

  /** Requests with an Idempotency-Key: while they run, and their answers for 24 hours. */
  idempotent_responses: {
    key_id: string;
    /** SHA-256 of the Idempotency-Key, whose text is not stored. */
    key_digest: string;
    fingerprint: string;
    state: 'running' | 'stored';
    /** The process that runs the request. A running row whose owner has no lease is free. */
    owner: string;
    request_id: string;
    /** This and the following columns are null while the request runs. */
    status: number | null;
    content_type: string | null;
    /** JSON. */
    headers: string | null;
    /** Compressed and encrypted; null when the body was too long to store. */
    body: Uint8Array | null;
    stored_at_ms: number | null;
    expires_at_ms: number | null;
    /** The answer's original charge and tokens; null when unknown. */
    cost_micros: Micros | null;
    input_tokens: number | null;
    output_tokens: number | null;
  };

  /** Answers in the content cache. */
  cached_responses: {
    account_id: string;
    /** A digest of everything that the answer depends on; see domain/cache/cache-name.ts. */
    digest: string;
    /** The account's generation when the request began. */
    generation: number;
    content_type: string;
    /** JSON. */
    headers: string;
    /** Compressed and encrypted. */
    body: Uint8Array;
    /** The size of the row, for the cache's budget. */
    size_bytes: number;
    created_at_ms: number;
    expires_at_ms: number;
    /** The answer's original charge and tokens; null when unknown. */
    cost_micros: Micros | null;
    input_tokens: number | null;
    output_tokens: number | null;
  };

  /**
   * Counts of uncharged requests by UTC day. They are buffered in memory, so a killed process loses a
   * few seconds of them.
   */
  activity_days: {
    account_id: string;
    mode: Mode;
    day: string;
    key_id: string;
    /** '' when the request failed before its model was known. */
    model_id: string;
    /** `hit`, `idempotent-replay`, or an error code. */
    outcome: string;
    requests: number;
    /** The original cost of the repeated answers, as far as it is known, and their tokens. */
    saved_micros: Micros;
    input_tokens: number;
    output_tokens: number;
  };

  /** Earlier texts of rotated keys. They work until they expire. */
  earlier_keys: {
    digest: string;
    key_id: string;
    /** As in `api_keys`. */
    secret_id: string | null;
    hint: string;
    expires_at_ms: number;
  };

  /** The user to whom a key belongs: who made it, or to whom an owner gave it. */
  key_owners: {
    key_id: string;
    ledger_id: string;
    /** Stays when the user leaves the account. */
    user_id: string;
  };

  /**
   * The most that a user's keys in an account may spend together. A budget stays when its user leaves
   * the account, because the keys stay.
   */
  member_budgets: {
    account_id: string;
    user_id: string;
    daily_micros: Micros | null;
    monthly_micros: Micros | null;
  };

  /** Where an account exports its own traces to. */
  account_telemetry: {
    account_id: string;
    /** null: switched off. */
    endpoint: string | null;
    /** A JSON list. */
    header_names: string;
    /** An encrypted JSON object, in base64; null: there are no headers. */
    sealed_headers: string | null;
    /** The key id of the secret that they are encrypted under. */
    secret_id: string | null;
    sampling_ppm: number;
    include_content: Flag;
    /** Grows with each change: what was written under an earlier one is not sent. */
    version: number;
  };

  /** How many of an account's exported spans arrived or were lost since its address was set. */
  account_telemetry_results: {
    account_id: string;
    sent_spans: number;
    dropped_spans: number;
    last_success_at_ms: number | null;
    last_problem: string | null;
    last_problem_at_ms: number | null;
  };

  /**
   * Requests of an account beside what the ledger books. Buffered in memory, so a killed process
   * loses a few seconds of them, and kept for `history.days`.
   */
  request_log: {
    account_id: string;
    mode: Mode;
    created_at_ms: number;
    request_id: string;
    key_id: string;
    /** '' when the request failed before its model was known. */
    model_id: string;
    /** The route's path: `/v1/chat/completions`. */
    path: string;
    outcome: 'charged' | 'hit' | 'idempotent-replay' | 'failed';
    /** The error code of a failed request; null: it did not fail. */
    code: string | null;
    /** The HTTP status; 0: it was not kept then. */
    status: number;
    streamed: 0 | 1;
    duration_ms: number | null;
    /** null: no stream, or none of it came. */
    first_byte_ms: number | null;
    /** The original cost of a repeated answer, as far as it is known, and its tokens. */
    saved_micros: Micros;
    input_tokens: number;
    output_tokens: number;
    /** JSON: `RequestNotes` of domain/activity/request-notes.ts. */
    details: string;
    /** The program that sent it, `openai-python/2.8`; null: not known. */
    client: string | null;
    /** With commas around each: `,project=alpha,beta,`; null: none. */
    tags: string | null;
  };

  /** The bodies of a request whose key keeps them. */
  kept_bodies: {
    account_id: string;
    request_id: string;
    key_id: string;
    /** The account's generation when the request began, as for cached answers. */
    generation: number;
    created_at_ms: number;
    expires_at_ms: number;
    /** The size of the row, for the budget. */
    size_bytes: number;
    streamed: Flag;
    /** The length as sent, of which less may be kept; null: there was none. */
    request_bytes: number | null;
    answer_bytes: number | null;
    /** Compressed and encrypted. */
    request: Uint8Array | null;
    answer: Uint8Array | null;
  };

  /**
   * Latency histograms of charged requests; domain/activity/latency.ts has the buckets. Each request
   * counts in its day and its month, and in each way to group, so that a year is read as a few months.
   */
  latency_sums: {
    account_id: string;
    mode: Mode;
    grouped_by: 'none' | 'model' | 'key' | 'provider' | 'tag';
    /** A UTC day, `2026-11-21`, or a month, `2026-11`; of all requests an hour, too: `2026-11-21T12`. */
    period: string;
    /** The id of the model or key, the provider or the tag; '' without a breakdown. */
    group_id: string;
    /** `first`: to the first piece of a stream. `whole`: to the end of any request. */
    kind: 'first' | 'whole';
    latency_bucket: number;
    requests: number;
  };

  /** Requests of an account by UTC hour and provider, some seconds late. */
  activity_hours: {
    account_id: string;
    mode: Mode;
    /** `2026-11-21T12` */
    hour: string;
    /** '' when a request was repeated, or failed before it had one. */
    provider: string;
    /** Charged, repeated and failed ones. */
    requests: number;
    errors: number;
    cost_micros: Micros;
    /** All input, including tokens read from a provider's cache. */
    input_tokens: number;
    output_tokens: number;
  };

  /** Uncharged requests by UTC day and tag, some seconds late. */
  activity_tag_days: {
    account_id: string;
    mode: Mode;
    day: string;
    tag: string;
    /** As in `activity_days`. */
    outcome: string;
    requests: number;
    saved_micros: Micros;
  };

  /** The time of a key's last request, whatever its outcome. */
  key_uses: { key_id: string; last_used_at_ms: number };

  /** Provider latency histograms by UTC hour; domain/activity/latency.ts defines the buckets. */
  provider_hours: {
    /** `2026-11-21T12` */
    hour: string;
    provider: string;
    /** Streams are measured to their first chunk, whole answers to their end. */
    kind: 'stream' | 'whole';
    ending: 'good' | 'bad' | 'refused' | 'unknown';
    latency_bucket: number;
    calls: number;
  };

  /**
   * Counters raised by triggers. Processes poll them to notice that data in their memory is outdated.
   */
  revisions: { name: string; value: number };

  /**
   * Secrets that this database needs, by key id: every secret that was ever current, until the
   * operator ends it.
   */
  secrets: {
    id: string;
    /** When a gateway first started with this secret as the current one. */
    current_since_ms: number;
  };

  /** Every change made in the dashboard, by a command or by an admin key, append-only. */
  audit_log: {
    id: string;
    actor_kind: 'user' | 'command' | 'service' | 'admin-key';
    actor_id: string;
    actor_name: string;
    address: string | null;
    account_id: string | null;
    action: string;
    subject: string;
    /** JSON objects with the changed fields. */
    before: string | null;
    after: string | null;
    created_at_ms: number;
  };

  /** Payments that owners requested. */
  top_ups: {
    /** Also sent to Stripe, which returns it with the payment. */
    id: string;
    account_id: string;
    user_id: string;
    /** The amount to credit. */
    amount_micros: Micros;
    /** The card fee, paid in addition. */
    fee_micros: Generated<Micros>;
    state: 'open' | 'processing' | 'failed' | 'expired' | 'paid';
    /**
     * Stripe's id of the checkout, or of the payment intent of an automatic top-up; null until Stripe
     * has answered.
     */
    checkout_id: string | null;
    /** The payment page. */
    checkout_url: string | null;
    created_at_ms: number;
    /** Stripe's ids of what an automatic top-up charges; null for one that an owner started. */
    customer_id: Generated<string | null>;
    card_id: Generated<string | null>;
    /** Why an automatic top-up failed. */
    problem: Generated<CardProblem | null>;
  };

  /** The saved card of an account, and when it is charged. */
  auto_top_ups: {
    account_id: string;
    /** null: it is off. */
    threshold_micros: Micros | null;
    amount_micros: Micros | null;
    /** The most that is charged in a UTC month, with fees. */
    ceiling_micros: Micros | null;
    /** The owner who turned it on last. */
    user_id: string | null;
    /** Stripe's id of the last checkout in which a card was to be saved. */
    checkout_id: string | null;
    /** Stripe's ids; the card itself is only there. */
    customer_id: string | null;
    card_id: string | null;
    card_brand: string | null;
    card_last4: string | null;
    /** Until an owner acts. */
    paused_at_ms: number | null;
    paused_reason: CardProblem | null;
    /** Raised by each attempt, which locks the row. */
    revision: Generated<number>;
  };

  /**
   * Payments at Stripe, possibly not completed: a refund or dispute can be reported before its
   * payment.
   */
  payments: {
    /** Stripe's id of the payment intent. */
    id: string;
    top_up_id: string | null;
    /** null: not matched to an account. */
    account_id: string | null;
    /** This and the next two columns are null until the payment is known to be paid. */
    amount_micros: Micros | null;
    /** The part that is not credited. */
    fee_micros: Generated<Micros>;
    currency: string | null;
    paid_at_ms: number | null;
    /** Why the payment was not credited automatically. */
    problem: 'unknown-account' | 'wrong-amount' | 'wrong-currency' | null;
    /** The operator's decision about the problem. */
    decision: 'assigned' | 'dismissed' | null;
    decided_note: string | null;
    /** Raised by each decision about the payment, which locks its row. */
    revision: Generated<number>;
  };

  /** Stripe's events about payments, append-only; domain/billing/position.ts evaluates them. */
  payment_events: {
    /** Stripe's event id. */
    id: string;
    payment_id: string;
    /** Stripe's event type: `charge.refunded`. */
    type: string;
    /** Stripe's id of the checkout, charge, refund or dispute. */
    object_id: string;
    /** The status of a dispute; null for other events. */
    status: string | null;
    amount_micros: Micros;
    currency: string;
    /** When Stripe created the object. */
    began_at_ms: number;
    /** The event's time at Stripe. */
    happened_at_ms: number;
    received_at_ms: number;
  };

  /** Ledger bookings for payments: decided here first, then booked. */
  payment_bookings: {
    payment_id: string;
    /** Starts at 1. */
    seq: number;
    part: 'payment' | 'refund' | 'dispute';
    account_id: string;
    /** Positive for a credit, negative for a debit. */
    delta_micros: Micros;
    decided_at_ms: number;
    /** null until the ledger has confirmed it. */
    booked_at_ms: number | null;
  };

  /** Live balances below which an account's owners are told. */
  balance_thresholds: {
    account_id: string;
    threshold_micros: Micros;
    /** null when the balance has not fallen below the threshold since it was last above. */
    warned_at_ms: number | null;
  };

  /** Events for alerts, in the order of writing. Removed after 60 days. */
  events: {
    /** The same in every delivery. */
    id: string;
    /** An `EventType`. */
    type: string;
    /** null: it is about the service. */
    account_id: string | null;
    /** A second event with the same key is not written. null: the event is always written. */
    once_key: string | null;
    /** JSON. */
    data: string;
    created_at_ms: number;
  };

  /** Where events are sent to. */
  alert_endpoints: {
    id: string;
    /** null: an operator's own. */
    account_id: string | null;
    kind: 'webhook' | 'email' | 'slack';
    /** An e-mail address, or `owners`. Of the other kinds: the address without what is secret in it. */
    shown_address: string;
    /** A JSON array; null: all that its owner may hear of. */
    types: string | null;
    /** The address and the signing secrets, encrypted, in base64; null: e-mail has none. */
    sealed: string | null;
    /** The key id of the secret that they are encrypted under. */
    secret_id: string | null;
    created_at_ms: number;
    disabled_at_ms: number | null;
    disabled_reason: string | null;
  };

  /** Keys of providers that accounts bring. */
  own_keys: {
    id: string;
    account_id: string;
    /** Its name in the configuration. */
    provider: string;
    /** Of the provider's address when the key was saved: it is sent to no other. */
    address_digest: string;
    /** The key's last characters. */
    shown_end: string;
    /** 1: it is tried before the operator's credentials. */
    goes_first: 0 | 1;
    /** The key, encrypted, in base64. */
    sealed: string;
    /** The key id of the secret that it is encrypted under. */
    secret_id: string;
    created_at_ms: number;
    /** When the provider last refused it; null: never. */
    refused_at_ms: number | null;
  };

  /** Files with the lines of batches. Only their rows without `bytes` are still being written. */
  batch_files: {
    id: string;
    account_id: string;
    mode: Mode;
    name: string;
    /** null: it has not arrived as a whole. */
    bytes: number | null;
    created_at_ms: number;
    expires_at_ms: number;
  };

  batch_file_parts: {
    file_id: string;
    /** From 0 on. */
    part: number;
    sealed: Uint8Array;
  };

  batches: {
    id: string;
    account_id: string;
    mode: Mode;
    key_id: string;
    form: 'openai' | 'anthropic';
    /** The path of all its lines. */
    endpoint: string;
    /** null: its lines came with the request. */
    file_id: string | null;
    /** The client's, as JSON. */
    metadata: string | null;
    /** Inherited by the lines from the request that created the batch, as JSON. */
    request: string;
    /**
     * `creating`: its lines are read and held for. `cancelling`: no further line begins; those that run
     * go on to their end.
     */
    state: 'creating' | 'running' | 'cancelling' | 'ended';
    /** The process that creates it. */
    owner: string;
    /** SHA-256 of the Idempotency-Key of its creation; null: it had none, or a day has passed. */
    name_digest: string | null;
    fingerprint: string | null;
    lines: Generated<number>;
    /** Bytes of all its requests. */
    bytes: Generated<number>;
    /** Lines and bytes by outcome, as JSON; null until its end. */
    counts: string | null;
    created_at_ms: number;
    /** Lines that have not begun by then are not run. */
    expires_at_ms: number;
    cancelled_at_ms: number | null;
    ended_at_ms: number | null;
    kept_until_ms: number;
    /** When the queue looks at it next. Taking lines sets it to now, so that batches have their turns. */
    due_at_ms: number;
    /** 1: its owner has removed the file with the answers, or that with the errors. */
    output_removed: Generated<0 | 1>;
    errors_removed: Generated<0 | 1>;
  };

  batch_lines: {
    batch_id: string;
    /** From 0 on. */
    line: number;
    custom_id: string;
    /** Names the line's hold and its charge. A new try gets another. */
    request_id: string;
    held_micros: Micros;
    /** The operator's likely cost when a try is killed. */
    likely_micros: Micros;
    /** null: it waits, or runs. */
    outcome: 'succeeded' | 'errored' | 'canceled' | 'expired' | null;
    /** Bytes of the result, its line break included; null without an outcome. */
    bytes: number | null;
    /** The process that runs it; null: none. */
    owner: string | null;
    /** When it may be run at the earliest. */
    due_at_ms: number;
    tries: Generated<number>;
    /** The request, then the result, encrypted; null: it was removed. */
    body: Uint8Array | null;
    /** The batch at a provider that has the line; null: our own queue runs it. */
    sent_id: Generated<string | null>;
  };

  /** Lines of a batch for a provider's own batch API, all for one model. It is removed at their end. */
  sent_batches: {
    /** Marks the batch and its lines at the provider. */
    id: string;
    batch_id: string;
    /** The route of its lines. */
    provider: string;
    model: string;
    format: string;
    /** `sending`: it may be there, and is looked for when nothing is known by `due_at_ms`. */
    state: 'waiting' | 'sending' | 'sent';
    /** The provider's id. */
    remote_id: string | null;
    /** The provider's id of the file with the lines; null: there is none. */
    file_id: string | null;
    /** How many were sent. */
    lines: Generated<number>;
    /** How often its results were read without being whole. */
    tries: Generated<number>;
    /** The process that sends it or reads its results; null: none. */
    owner: string | null;
    created_at_ms: number;
    /** When it was last sent. */
    sent_at_ms: number | null;
    due_at_ms: number;
  };

  /** An event for one endpoint, written with the event. */
  event_deliveries: {
    /** `<event>.<endpoint>` */
    id: string;
    event_id: string;
    endpoint_id: string;
    attempts: Generated<number>;
    /** When it is tried next; a gateway that tries moves it to the end of its lease. null: never. */
    next_at_ms: number | null;
    created_at_ms: number;
    tried_at_ms: number | null;
    delivered_at_ms: number | null;
    /** Why the last attempt failed. */
    problem: string | null;
  };

  users: {
    id: string;
    name: string;
    /** In lower case. */
    email: string;
    email_verified: LibraryFlag;
    two_factor_enabled: ColumnType<boolean | Flag | null, Flag | undefined, Flag>;
    created_at: LibraryTime;
    updated_at: LibraryTime;
    is_operator: Generated<Flag>;
    /** The account created at sign-up; null for invited users. */
    own_account_id: Generated<string | null>;
    /** The credit that the account gets once the e-mail address is verified; 0 afterwards. */
    promised_credit_micros: Generated<number>;
  };

  user_sessions: {
    id: string;
    user_id: string;
    /** SHA-256 of the cookie's token. */
    token: string;
    ip_address: string | null;
    user_agent: string | null;
    created_at: LibraryTime;
    /** The time of the last renewal. */
    updated_at: LibraryTime;
    expires_at: LibraryTime;
  };

  /** Sign-in methods of a user: one row for the password (`credential`), one per provider. */
  user_credentials: {
    id: string;
    user_id: string;
    provider_id: string;
    account_id: string;
    /** For `credential`: an argon2id hash with its parameters and salt. */
    password: string | null;
    created_at: LibraryTime;
    updated_at: LibraryTime;
  };

  /** State of the sign-in library between two steps of a sign-in. */
  user_verifications: {
    /** A user id or JSON. */
    value: string;
    expires_at: LibraryTime;
  };

  /** Programs on other machines that ask for a key; only digests of their codes are stored. */
  device_logins: {
    device_digest: string;
    user_digest: string;
    /** The program that wants to sign in, and the address of its machine. */
    program: string;
    address: string;
    expires_at_ms: number;
    is_denied: Generated<Flag>;
    /** These are null until a user has confirmed it. */
    account_id: Generated<string | null>;
    user_id: Generated<string | null>;
    key_name: Generated<string | null>;
    /** The address of the browser. */
    confirmed_from: Generated<string | null>;
  };

  user_two_factors: {
    user_id: string;
    /** Encrypted. */
    secret: string;
    /** A JSON array of digests. */
    backup_codes: string;
  };

  /** Second-factor codes that were used, kept for as long as they would be accepted again. */
  used_codes: {
    user_id: string;
    code: string;
    used_at_ms: number;
  };

  user_passkeys: {
    id: string;
    user_id: string;
    /** The authenticator's name for the passkey, in base64url. */
    credential_id: string;
    /** A COSE key in base64url. */
    public_key: string;
    /** The authenticator's count of signatures; stays 0 where it does not count. */
    counter: number;
    /** A JSON array of how the authenticator is reached, such as `usb`. */
    transports: string;
    /** The host name that the passkey was made for. */
    rp_id: string;
    name: string;
    created_at_ms: number;
    last_used_at_ms: number | null;
  };

  /** Answered challenges, kept for as long as they would be accepted again. */
  used_passkey_challenges: { challenge: string; expires_at_ms: number };

  account_members: {
    account_id: string;
    user_id: string;
    role: Role;
    created_at_ms: number;
  };

  invitations: {
    id: string;
    account_id: string;
    email: string;
    role: Role;
    token_digest: string;
    /**
     * Digest of a second link that was only e-mailed: following it proves the address. null when
     * there is none.
     */
    mailed_token_digest: string | null;
    /** null when an operator invited by command. */
    invited_by: string | null;
    created_at_ms: number;
    expires_at_ms: number;
    accepted_at_ms: number | null;
  };

  /** Single-use links; only a digest of each link's token is stored. */
  sign_in_links: {
    token_digest: string;
    kind: 'first-run' | 'password-reset' | 'verify-email';
    user_id: string | null;
    /** For `verify-email`: the address that the link proves. */
    email: string | null;
    expires_at_ms: number;
    used_at_ms: number | null;
  };

  /** Counts of throttled attempts; `subject` names the action and the user or address. */
  attempts: {
    subject: string;
    count: number;
    started_at_ms: number;
    blocked_until_ms: number;
  };

  /** Keys of the admin API. */
  admin_keys: {
    id: string;
    name: string;
    /** A JSON array of scopes. */
    scopes: string;
    /** SHA-256 of the key, which is never stored. */
    digest: string;
    /** A display form for recognising the key: `tg_admin_…x4Qz`. */
    hint: string;
    /** Same format as an API key's. */
    allowed_addresses: string | null;
    /** null: the key never expires. */
    expires_at_ms: number | null;
    created_at_ms: number;
    revoked_at_ms: number | null;
  };

  /** Requests to the admin API with an Idempotency-Key, for 24 hours. */
  admin_answers: {
    admin_key_id: string;
    /** SHA-256 of the Idempotency-Key, whose text is not stored. */
    key_digest: string;
    fingerprint: string;
    /** Compressed and encrypted; null until the answer is known. */
    body: Uint8Array | null;
    expires_at_ms: number;
  };

  settings_versions: {
    /** 1, 2, 3 … The newest is in force. */
    version: number;
    created_at_ms: number;
    author: string;
    /** What was changed, in a few words. */
    note: string;
    /** 1: gateways read their configuration file again when they take this version. */
    rereads_file: Flag;
    /** The settings as JSON, encrypted, in base64. */
    sealed: string;
    secret_id: string;
  };
};
