// The audit log, keys of the admin API with its answers under Idempotency-Keys, and saved settings.

export const administration = {
  /** Every change made in the dashboard, by a command or by an admin key, append-only. */
  audit_log: {
    id: 'ID primary key',
    actor_kind: "text not null in ('user', 'command', 'service', 'admin-key')",
    actor_id: 'text not null',
    actor_name: 'text not null',
    address: 'text',
    account_id: 'text',
    action: 'ID not null',
    subject: 'text not null',
    /** JSON objects with the changed fields. */
    before: 'text',
    after: 'text',
    created_at_ms: 'INT not null',
    'index audit_log_by_time': '(created_at_ms desc, id desc)',
    'index audit_log_by_account': '(account_id, created_at_ms desc, id desc)',
    'index audit_log_by_subject': '(subject, created_at_ms desc, id desc)',
    'kept as': 'LOOSE',
  },

  /** Keys of the admin API. */
  admin_keys: {
    id: 'ID primary key',
    name: 'text not null',
    /** A JSON array of scopes. */
    scopes: 'text not null',
    /** SHA-256 of the key, which is never stored. */
    digest: 'ID not null unique',
    /** A display form for recognising the key: `tg_admin_…x4Qz`. */
    hint: 'text not null',
    /** Same format as an API key's. */
    allowed_addresses: 'text',
    /** null: the key never expires. */
    expires_at_ms: 'INT',
    created_at_ms: 'INT not null',
    revoked_at_ms: 'INT',
  },

  /** Requests to the admin API with an Idempotency-Key, for 24 hours. */
  admin_answers: {
    admin_key_id: 'ID not null references admin_keys (id)',
    /** SHA-256 of the Idempotency-Key, whose text is not stored. */
    key_digest: 'ID not null',
    fingerprint: 'ID not null',
    /** Compressed and encrypted; null until the answer is known. */
    body: 'BYTES',
    expires_at_ms: 'INT not null',
    'primary key': '(admin_key_id, key_digest)',
    'index admin_answers_by_expiry': '(expires_at_ms)',
  },

  settings_versions: {
    /** 1, 2, 3 … The newest is in force. */
    version: 'INT primary key',
    created_at_ms: 'INT not null',
    author: 'text not null',
    /** A summary of the change. */
    note: 'text not null',
    /** 1: gateways read their configuration file again when they take this version. */
    rereads_file: 'FLAG not null',
    /** The settings as JSON, encrypted, in base64. */
    sealed: 'text not null',
    secret_id: 'ID not null',
  },
} as const;
