// Answers and bodies that are kept for a while.

export const responses = {
  /** Requests with an Idempotency-Key: while they run, and their answers for 24 hours. */
  idempotent_responses: {
    key_id: 'ID not null references api_keys (id)',
    /** SHA-256 of the Idempotency-Key, whose text is not stored. */
    key_digest: 'ID not null',
    fingerprint: 'ID not null',
    state: "text not null in ('running', 'stored')",
    /** The process that runs the request. A running row whose owner has no lease is free. */
    owner: 'ID not null',
    request_id: 'ID not null unique',
    /** This and the following columns are null while the request runs. */
    status: 'INT',
    content_type: 'text',
    /** JSON. */
    headers: 'text',
    /** Compressed and encrypted; null when the body was too long to store. */
    body: 'BYTES',
    stored_at_ms: 'INT',
    expires_at_ms: 'INT',
    /** The answer's original charge and tokens; null when unknown. */
    cost_micros: 'LIMIT',
    input_tokens: 'LIMIT',
    output_tokens: 'LIMIT',
    'primary key': '(key_id, key_digest)',
    'other rules': "check ((state = 'stored') = (expires_at_ms is not null))",
    'index idempotent_responses_by_expiry': '(expires_at_ms)',
  },

  /** Answers in the content cache. */
  cached_responses: {
    account_id: 'ID not null',
    /** A digest of everything that the answer depends on; see domain/cache/cache-name.ts. */
    digest: 'ID not null',
    /** The account's generation when the request began. */
    generation: 'INT not null',
    content_type: 'text not null',
    /** JSON. */
    headers: 'text not null',
    /** Compressed and encrypted. */
    body: 'BYTES not null',
    /** The size of the row, for the cache's budget. */
    size_bytes: 'INT not null',
    created_at_ms: 'INT not null',
    expires_at_ms: 'INT not null',
    /** The answer's original charge and tokens; null when unknown. */
    cost_micros: 'LIMIT',
    input_tokens: 'LIMIT',
    output_tokens: 'LIMIT',
    'primary key': '(account_id, digest)',
    // Serves expiry, age and size: all rows are kept equally long, and the oldest expire first.
    'index cached_responses_by_expiry': '(expires_at_ms, account_id, digest, size_bytes)',
    'index cached_responses_by_generation': '(account_id, generation)',
  },

  /**
   * The bodies of a request whose key keeps them. Rows are removed by expiry, by age beyond a budget, and
   * by generation when an account's stored answers are erased.
   */
  kept_bodies: {
    account_id: 'ID not null',
    request_id: 'ID not null',
    key_id: 'ID not null',
    /** The account's generation when the request began, as for cached answers. */
    generation: 'INT not null',
    created_at_ms: 'INT not null',
    expires_at_ms: 'INT not null',
    /** The size of the row, for the budget. */
    size_bytes: 'INT not null',
    streamed: 'FLAG not null',
    /** The length as sent, of which less may be kept; null: there was none. */
    request_bytes: 'INT',
    answer_bytes: 'INT',
    /** Compressed and encrypted. */
    request: 'BYTES',
    answer: 'BYTES',
    'primary key': '(account_id, request_id)',
    'index kept_bodies_by_expiry': '(expires_at_ms, account_id, request_id, size_bytes)',
    'index kept_bodies_by_age': '(created_at_ms, account_id, request_id, size_bytes)',
    'index kept_bodies_by_generation': '(account_id, generation, request_id, size_bytes)',
  },
} as const;
