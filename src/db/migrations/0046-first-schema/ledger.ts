// The ledger. Its tables carry their rules as checks and triggers, so that the database itself refuses
// a bug or a mistake at the SQL prompt. Seals have digests of columns in this order
// (domain/ledger/seals/digests.ts).

export const ledger = {
  /** One row per account and mode: balances, equal to the sums of the ledger's entries. */
  ledgers: {
    /** `<account id>:<mode>` */
    id: 'ID primary key',
    account_id: 'ID not null references accounts (id)',
    mode: "text not null in ('live', 'test')",
    posted_micros: 'MICROS not null default 0',
    held_micros: 'COUNT default 0',
    /** Since the ledger was created, cached input included. */
    input_tokens: 'COUNT default 0',
    output_tokens: 'COUNT default 0',
    /**
     * The time of the last entry. Later entries are never dated earlier, even if the clock goes back.
     */
    last_entry_at_ms: 'INT not null default 0',
    'other rules': "check (id = account_id || ':' || mode)",
    'kept as': 'HOT',
  },

  /** A key's spending and open holds in one UTC day or month, compared with the key's caps. */
  key_windows: {
    /** Every reserve writes here, so this one reference keeps an unknown key from spending. */
    key_id: 'ID not null references api_keys (id)',
    kind: "ID not null in ('day', 'month')",
    /** `2026-11-21` or `2026-11` */
    starts_on: 'ID not null',
    settled_micros: 'COUNT',
    held_micros: 'COUNT',
    'primary key': '(key_id, kind, starts_on)',
    'kept as': 'HOT',
  },

  /**
   * Open holds only. A hold that is settled, released or expired is deleted here and remains in the
   * entries.
   */
  holds: {
    id: 'ID primary key',
    ledger_id: 'ID not null OF_LEDGER',
    key_id: 'ID not null',
    amount_micros: 'COUNT',
    /** The windows and caps at the time of the hold; its settlement uses the same ones. */
    day: 'ID not null',
    month: 'ID not null',
    daily_cap_micros: 'INT',
    monthly_cap_micros: 'INT',
    owner: 'ID not null',
    /** The operator's likely cost of the request: at its start, and per second that it runs. */
    cost_at_once_micros: 'COUNT default 0',
    cost_per_second_micros: 'COUNT default 0',
    created_at_ms: 'INT not null',
    'kept as': 'HOT',
  },

  /**
   * One lease per running process. A hold whose owner has no row here is orphaned and is released.
   */
  hold_owners: {
    owner: 'ID primary key',
    host: 'text not null',
    pid: 'INT not null',
    /** Distinguishes a process from a later one with the same pid. */
    process_started_at_ms: 'INT not null',
    expires_at_ms: 'INT not null',
    'kept as': 'HOT',
  },

  /**
   * The append-only journal of every balance change. All other numbers of the ledger can be
   * recomputed from it.
   */
  entries: {
    seq: 'SEQUENCE primary key',
    /**
     * The hold's id for entries that concern a hold, with a suffix `+1`, `+2` … for extensions;
     * otherwise the command's id. Unique together with the kind.
     */
    id: 'ID not null',
    kind: "ID not null in ('reserve', 'extend', 'settle', 'release', 'expire', 'credit', 'debit')",
    ledger_id: 'ID not null OF_LEDGER',
    key_id: 'ID',
    posted_delta_micros: 'MICROS not null',
    held_delta_micros: 'MICROS not null',
    loss_micros: 'COUNT',
    /** 1 when the account could provoke the loss: only such losses count against its loss budget. */
    provoked: 'FLAG not null default 0 check (provoked = 0 or provoked = 1)',
    /** The available balance right after this entry, as reported in the command's first response. */
    available_micros: 'MICROS not null',
    /** These four on `reserve` only. */
    day: 'ID',
    month: 'ID',
    daily_cap_micros: 'INT',
    monthly_cap_micros: 'INT',
    note: 'text',
    created_at_ms: 'INT not null',
    'other rules': 'unique (id, kind)',
    // Adjustments and losses are rare: without an index they would be searched for in all rows.
    'index entries_adjustments': '(ledger_id, created_at_ms desc, seq desc) where key_id is null',
    'index entries_losses': '(created_at_ms) where loss_micros > 0',
  },

  /**
   * One row per settled request, append-only: the usage record, with enough data to recompute the
   * charge. schema.ts says how PostgreSQL keeps them. No index by id is needed: the one of the entries
   * allows one charge per id.
   */
  charges: {
    /** The id of the hold, which is also the request's id. */
    id: 'ID not null',
    ledger_id: 'ID not null OF_LEDGER',
    key_id: 'ID not null',
    model_id: 'ID not null',
    model_name: 'text not null',
    /** The wire format of the request, or what was sold: `images`, `web-search` … */
    endpoint: 'text not null',
    provider: 'text not null',
    input_tokens: 'COUNT',
    cache_read_tokens: 'COUNT',
    cache_write_tokens: 'COUNT',
    cache_write_1h_tokens: 'COUNT',
    output_tokens: 'COUNT',
    reasoning_tokens: 'COUNT',
    /** Searches that the provider ran, and images; each has its own price. */
    web_searches: 'integer not null default 0 check (web_searches >= 0)',
    images: 'integer not null default 0 check (images >= 0)',
    usage_source: "text not null in ('upstream', 'estimate')",
    /** The applied price: `effective_from`, tier, and the price of a search if there were any. */
    price_version: 'text not null',
    /** null: no price was stored. */
    price_id: 'ID OF_PRICE',
    upstream_cost_micros: 'COUNT',
    ending: "text not null in ('complete', 'cut-off')",
    streamed: 'FLAG not null check (streamed in (0, 1))',
    /** The amount charged. */
    cost_micros: 'COUNT',
    /** The part of the cost that exceeded both the balance and the caps. */
    loss_micros: 'COUNT',
    hold_micros: 'COUNT',
    /** Provider calls made for the request. */
    attempts: 'INT not null default 1 check (attempts >= 1)',
    /** Milliseconds from the request's arrival to its settlement; null: not known. */
    duration_ms: 'INT check (duration_ms >= 0)',
    /**
     * Milliseconds from the request's arrival to the first chunk of a stream; null for whole answers.
     */
    first_byte_ms: 'INT check (first_byte_ms >= 0)',
    created_at_ms: 'INT not null',
    /** A digest of the conversation's name; null: it has none. */
    conversation: 'text',
    /** Who marked the prompt for the provider's cache; null: its provider needs no marks. */
    cache_marks: "text VALUES ('client', 'gateway', 'none')",
    /** Routes of the rank that could have served it; null: one. */
    rank_routes: 'integer',
    'primary key': '(ledger_id, created_at_ms, id)',
    'index charges_cut_off': "(ledger_id, created_at_ms desc, id desc) where ending = 'cut-off'",
    'kept as': 'BY_DAY',
  },

  /**
   * Daily sums of charges, updated in the transaction of each charge. `day` is the charge's UTC day,
   * `2026-11-21`.
   */
  charge_days: {
    ledger_id: 'ID not null',
    day: 'ID not null',
    key_id: 'ID not null',
    model_id: 'ID not null',
    endpoint: 'ID not null',
    requests: 'COUNT',
    /** All input, including tokens read from a provider's cache. */
    input_tokens: 'COUNT',
    /** The part read from a provider's cache. */
    cached_tokens: 'COUNT',
    output_tokens: 'COUNT',
    images: 'COUNT',
    cost_micros: 'COUNT',
    upstream_cost_micros: 'COUNT',
    loss_micros: 'COUNT',
    'primary key': '(ledger_id, day, key_id, model_id, endpoint)',
    'index charge_days_by_day': '(day)',
    'kept as': 'HOT',
  },

  /** Tags of charges, one row each. Removed with their charges. */
  charge_tags: {
    ledger_id: 'ID not null',
    /** `project=alpha` or a word. */
    tag: 'ID not null',
    /** The charge's time and id. */
    created_at_ms: 'INT not null',
    charge_id: 'ID not null',
    'primary key': '(ledger_id, tag, created_at_ms, charge_id)',
    'index charge_tags_by_time': '(ledger_id, created_at_ms, charge_id)',
    'kept as': 'ORDERED',
  },

  /** Sums of charges by tag, UTC day, key and model, written with each charge that has tags. */
  tag_days: {
    ledger_id: 'ID not null',
    tag: 'ID not null',
    day: 'ID not null',
    key_id: 'ID not null',
    model_id: 'ID not null',
    requests: 'INT not null',
    /** All input, including tokens read from a provider's cache. */
    input_tokens: 'INT not null',
    output_tokens: 'INT not null',
    cost_micros: 'INT not null',
    'primary key': '(ledger_id, tag, day, key_id, model_id)',
    'index tag_days_by_day': '(ledger_id, day)',
    'kept as': 'ORDERED',
  },

  /** Provoked losses of a ledger by UTC day, updated in the transaction of each entry. */
  loss_days: {
    ledger_id: 'ID not null',
    day: 'ID not null',
    provoked_micros: 'COUNT',
    /** The part that an operator has forgiven; it does not count against the loss budget. */
    forgiven_micros: 'INT not null default 0 check (forgiven_micros between 0 and provoked_micros)',
    'primary key': '(ledger_id, day)',
    'kept as': 'ORDERED',
  },

  /** The price terms of charges, append-only; terms/price-terms.ts reads and writes them. */
  prices: {
    id: 'ID primary key',
    terms: 'text not null',
    'kept as': 'ORDERED',
  },

  /** Days of the journal that are over: append-only, each chained to the one before. */
  sealed_days: {
    /** The last UTC day that it covers, `2026-11-21`. */
    day: 'ID primary key',
    /** The end of the day, exclusive. */
    until_ms: 'INT not null',
    /** Where the journal goes on, see `Position` in domain/ledger/seals/journal.ts. `ahead` is JSON. */
    after_seq: 'INT not null',
    last_seq: 'INT not null',
    ahead: 'text not null',
    /** The entries and charges that it covers and the one before does not, and their SHA-256. */
    entries: 'INT not null',
    charges: 'INT not null',
    entries_digest: 'text not null',
    charges_digest: 'text not null',
    /** SHA-256 of the tags of its charges. */
    tags_digest: 'text not null',
    /** SHA-256 of the day's rows in `charge_days`, `loss_days` and `tag_days`. */
    sums_digest: 'text not null',
    state_digest: 'text not null',
    /** '' for the first. */
    previous_digest: 'text not null',
    /** SHA-256 of the columns before. */
    digest: 'text not null',
    /** JSON: balances, holds and windows at its end. Only the newest has it. */
    state: 'text',
    sealed_at_ms: 'INT not null',
    /** Set before the first of its charges is removed, and after the last. */
    removing_since_ms: 'INT',
    removed_at_ms: 'INT',
  },

  /** One row: who seals days now, and whether the clock is trusted. */
  sealing: {
    id: 'INT primary key check (id = 1)',
    /** The clock at the last look; null before the first. */
    trusted_ms: 'INT',
    /** Set while the clock is hours ahead of what was expected. */
    doubted_since_ms: 'INT',
    doubted_at_ms: 'INT',
    owner: 'text',
    claimed_until_ms: 'INT not null',
    /** The end of the newest day that was sealed or is being sealed; nothing is dated before it. */
    closed_until_ms: 'INT not null default 0',
  },
} as const;
