// Accounts with their keys, and the revision that caches of keys poll.

export const accounts = {
  accounts: {
    id: 'ID primary key',
    name: 'text not null',
    created_at_ms: 'INT not null',
    frozen: 'FLAG not null default 0 check (frozen in (0, 1))',
    /** A factor on list prices; 1 000 000 means the list price. */
    price_multiplier_ppm: 'INT not null default 1000000 check (price_multiplier_ppm >= 0)',
    /** 1 when answers are stored, for replays and the cache. */
    retain_responses:
      'FLAG not null default 1 check (retain_responses = 0 or retain_responses = 1)',
    /** 1: users without a second factor may not use the account in the dashboard. */
    requires_second_factor: 'FLAG not null default 0',
    /** Raised by a purge: answers cached under a lower generation are no longer served. */
    cache_generation: 'INT not null default 0',
    /** Shared by all keys of one mode; null means the configured default. */
    requests_per_minute: 'LIMIT',
    tokens_per_minute: 'LIMIT',
    concurrent_requests: 'LIMIT',
    /** Same format as a key's. */
    allowed_addresses: 'text',
    'index accounts_purged':
      '(id, cache_generation, retain_responses) where cache_generation > 0 or retain_responses = 0',
    'kept as': 'ORDERED',
  },

  api_keys: {
    id: 'ID primary key',
    account_id: 'ID not null references accounts (id)',
    mode: "text not null in ('live', 'test')",
    name: 'text not null',
    /** The key itself is never stored. */
    digest: 'ID not null unique',
    /** The key id of the secret that made the digest; null: another gateway made it, with none. */
    secret_id: 'ID',
    /** A display form for recognising the key: `tg_live_…x4Qz`. */
    hint: 'text not null',
    /** null means no cap; 0 allows nothing. */
    daily_cap_micros: 'LIMIT',
    monthly_cap_micros: 'LIMIT',
    /** A JSON array of model ids; null means all models. */
    models: 'text',
    /** A JSON array of `KeyScope`; null means all scopes. */
    scopes: 'text',
    /** null means the configured default; 0 allows nothing. */
    requests_per_minute: 'LIMIT',
    tokens_per_minute: 'LIMIT',
    concurrent_requests: 'LIMIT',
    /** A JSON array of addresses and CIDR ranges; null allows every address. */
    allowed_addresses: 'text',
    /** null: the key never expires. */
    expires_at_ms: 'INT',
    /** For how many days the bodies of its requests are kept; null: they are not kept. */
    body_days: 'INT',
    /** 0: prompts get no cache marks of Tollgate's own. */
    cache_marks: 'FLAG not null default 1',
    created_at_ms: 'INT not null',
    /** null: the key is enabled. */
    disabled_at_ms: 'INT',
    revoked_at_ms: 'INT',
    'index api_keys_by_account': '(account_id, created_at_ms)',
    'kept as': 'ORDERED',
  },

  /** Earlier texts of rotated keys. They work until they expire. */
  earlier_keys: {
    digest: 'ID primary key',
    key_id: 'ID not null references api_keys (id)',
    /** As in `api_keys`. */
    secret_id: 'ID',
    hint: 'text not null',
    expires_at_ms: 'INT not null',
    'index earlier_keys_by_key': '(key_id)',
  },

  /** The time of a key's last request, whatever its outcome. */
  key_uses: {
    key_id: 'ID primary key',
    last_used_at_ms: 'INT not null',
    'kept as': 'HOT',
  },

  /**
   * Secrets that this database needs, by key id: every secret that was ever current, until the
   * operator ends it.
   */
  secrets: {
    id: 'ID primary key',
    /** When a gateway first started with this secret as the current one. */
    current_since_ms: 'INT not null',
    'kept as': 'ORDERED',
  },

  /** An account's multiplier for one model, which replaces the account's own. */
  account_model_prices: {
    account_id: 'ID not null references accounts (id)',
    model_id: 'ID not null',
    multiplier_ppm: 'COUNT',
    'primary key': '(account_id, model_id)',
    'kept as': 'ORDERED',
  },

  /** Keys of providers that accounts bring. */
  own_keys: {
    id: 'ID primary key',
    account_id: 'ID not null references accounts (id)',
    /** Its name in the configuration. */
    provider: 'text not null',
    /** The digest of the provider's address when the key was saved: the key is sent to no other. */
    address_digest: 'text not null',
    /** The key's last characters. */
    shown_end: 'text not null',
    /** 1: it is tried before the operator's credentials. */
    goes_first: 'FLAG not null',
    /** The key, encrypted, in base64. */
    sealed: 'text not null',
    /** The key id of the secret that it is encrypted under. */
    secret_id: 'ID not null',
    created_at_ms: 'INT not null',
    /** When the provider last refused it; null: never. */
    refused_at_ms: 'INT',
    'index own_keys_by_account': '(account_id, created_at_ms)',
  },

  /** Where an account exports its own traces to. */
  account_telemetry: {
    account_id: 'ID primary key references accounts (id)',
    /** null: switched off. */
    endpoint: 'text',
    /** A JSON list. */
    header_names: 'text not null',
    /** An encrypted JSON object, in base64; null: there are no headers. */
    sealed_headers: 'text',
    /** The key id of the secret that they are encrypted under. */
    secret_id: 'ID',
    sampling_ppm: 'INT not null',
    include_content: 'FLAG not null',
    /** Grows with each change: what was written under an earlier one is not sent. */
    version: 'INT not null',
  },

  /** How many of an account's exported spans arrived or were lost since its address was set. */
  account_telemetry_results: {
    account_id: 'ID primary key references accounts (id)',
    sent_spans: 'INT not null',
    dropped_spans: 'INT not null',
    last_success_at_ms: 'INT',
    last_problem: 'text',
    last_problem_at_ms: 'INT',
  },

  /**
   * Counters raised by triggers. Processes poll them to notice that data in their memory is outdated.
   */
  revisions: {
    name: 'ID primary key',
    value: 'INT not null',
    'kept as': 'HOT',
  },
} as const;
