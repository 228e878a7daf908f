// Batches, their lines, and the files that have the lines of OpenAI's: domain/batches/.

export const batches = {
  /** Files with the lines of batches. Only their rows without `bytes` are still being written. */
  batch_files: {
    id: 'ID primary key',
    account_id: 'ID not null references accounts (id)',
    mode: "text not null in ('live', 'test')",
    name: 'text not null',
    /** null: it has not arrived as a whole. */
    bytes: 'LIMIT',
    created_at_ms: 'INT not null',
    expires_at_ms: 'INT not null',
    'index batch_files_by_account': '(account_id, mode, created_at_ms, id)',
    'index batch_files_by_expiry': '(expires_at_ms)',
  },

  batch_file_parts: {
    file_id: 'ID not null references batch_files (id)',
    /** From 0 on. */
    part: 'INT not null',
    sealed: 'BYTES not null',
    'primary key': '(file_id, part)',
  },

  batches: {
    id: 'ID primary key',
    account_id: 'ID not null references accounts (id)',
    mode: "text not null in ('live', 'test')",
    key_id: 'ID not null references api_keys (id)',
    form: "text not null VALUES ('openai', 'anthropic')",
    /** The path of all its lines. */
    endpoint: 'text not null',
    /** null: its lines came with the request. */
    file_id: 'ID',
    /** The client's, as JSON. */
    metadata: 'text',
    /** Inherited by the lines from the request that created the batch, as JSON. */
    request: 'text not null',
    /**
     * `creating`: its lines are read and held for. `cancelling`: no further line begins; those that run
     * go on to their end.
     */
    state: "text not null VALUES ('creating', 'running', 'cancelling', 'ended')",
    /** The process that creates it. */
    owner: 'ID not null',
    /** SHA-256 of the Idempotency-Key of its creation; null: it had none, or a day has passed. */
    name_digest: 'ID',
    fingerprint: 'text',
    lines: 'COUNT default 0',
    /** Bytes of all its requests. */
    bytes: 'COUNT default 0',
    /** Lines and bytes by outcome, as JSON; null until its end. */
    counts: 'text',
    created_at_ms: 'INT not null',
    /** Lines that have not begun by then are not run. */
    expires_at_ms: 'INT not null',
    cancelled_at_ms: 'INT',
    ended_at_ms: 'INT',
    kept_until_ms: 'INT not null',
    /** When the queue looks at it next. Taking lines sets it to now, so that batches have their turns. */
    due_at_ms: 'INT not null',
    /** 1: its owner has removed the file with the answers, or that with the errors. */
    output_removed: 'FLAG not null default 0',
    errors_removed: 'FLAG not null default 0',
    'index batches_by_account': '(account_id, mode, form, created_at_ms, id)',
    'index batches_by_end': '(kept_until_ms)',
    'index batches_open': "(due_at_ms) where state <> 'ended'",
    'unique index batches_by_name': '(key_id, name_digest) where name_digest is not null',
  },

  batch_lines: {
    batch_id: 'ID not null references batches (id)',
    /** From 0 on. */
    line: 'INT not null',
    custom_id: 'text not null',
    /** Names the line's hold and its charge. A new try gets another. */
    request_id: 'ID not null',
    held_micros: 'COUNT',
    /** The operator's likely cost when a try is killed. */
    likely_micros: 'COUNT',
    /** null: it waits, or runs. */
    outcome: "text VALUES ('succeeded', 'errored', 'canceled', 'expired')",
    /** Bytes of the result, its line break included; null without an outcome. */
    bytes: 'LIMIT',
    /** The process that runs it; null: none. */
    owner: 'ID',
    /** When it may be run at the earliest. */
    due_at_ms: 'INT not null',
    tries: 'INT not null default 0',
    /** The request, then the result, encrypted; null: it was removed. */
    body: 'BYTES',
    /** The batch at a provider that has the line; null: our own queue runs it. */
    sent_id: 'ID',
    'primary key': '(batch_id, line)',
    'index batch_lines_by_outcome': '(batch_id, outcome, line, bytes)',
  },

  /** Lines of a batch for a provider's own batch API, all for one model. It is removed at their end. */
  sent_batches: {
    /** Marks the batch and its lines at the provider. */
    id: 'ID primary key',
    batch_id: 'ID not null references batches (id)',
    /** The route of its lines. */
    provider: 'text not null',
    model: 'text not null',
    format: 'text not null',
    /** `sending`: it may be there, and is looked for when nothing is known by `due_at_ms`. */
    state: "text not null VALUES ('waiting', 'sending', 'sent')",
    /** The provider's id. */
    remote_id: 'text',
    /** The provider's id of the file with the lines; null: there is none. */
    file_id: 'text',
    /** How many were sent. */
    lines: 'COUNT default 0',
    /** How often its results were read without being whole. */
    tries: 'INT not null default 0',
    /** The process that sends it or reads its results; null: none. */
    owner: 'ID',
    created_at_ms: 'INT not null',
    /** When it was last sent. */
    sent_at_ms: 'INT',
    due_at_ms: 'INT not null',
    'index sent_batches_due': '(due_at_ms)',
    'index sent_batches_by_batch': '(batch_id)',
  },
} as const;
