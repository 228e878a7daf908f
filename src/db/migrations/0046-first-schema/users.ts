// Users, their sessions, and account members. The first five tables belong to the sign-in library,
// under our names.

export const users = {
  users: {
    id: 'ID primary key',
    name: 'text not null',
    /** In lower case. */
    email: 'ID not null unique check (email = lower(email))',
    email_verified: 'BOOLEAN not null default FALSE',
    two_factor_enabled: 'BOOLEAN default FALSE',
    created_at: 'TIME not null',
    updated_at: 'TIME not null',
    is_operator: 'FLAG not null default 0 check (is_operator in (0, 1))',
    /** The account created at sign-up; null for invited users. */
    own_account_id: 'ID references accounts (id)',
    /** The credit that the account gets once the e-mail address is verified; 0 afterwards. */
    promised_credit_micros: 'COUNT default 0',
    image: 'text',
    'kept as': 'LOOSE',
  },

  user_sessions: {
    id: 'ID primary key',
    user_id: 'ID not null references users (id) on delete cascade',
    /** SHA-256 of the cookie's token. */
    token: 'ID not null unique',
    ip_address: 'text',
    user_agent: 'text',
    created_at: 'TIME not null',
    /** The time of the last renewal. */
    updated_at: 'TIME not null',
    expires_at: 'TIME not null',
    'index user_sessions_user_id_idx': '(user_id)',
    'kept as': 'LOOSE',
  },

  /** Sign-in methods of a user: one row for the password (`credential`), one per provider. */
  user_credentials: {
    id: 'ID primary key',
    user_id: 'ID not null references users (id) on delete cascade',
    provider_id: 'ID not null',
    account_id: 'ID not null',
    /** For `credential`: an argon2id hash with its parameters and salt. */
    password: 'text',
    created_at: 'TIME not null',
    updated_at: 'TIME not null',
    access_token: 'text',
    refresh_token: 'text',
    id_token: 'text',
    access_token_expires_at: 'TIME',
    refresh_token_expires_at: 'TIME',
    scope: 'text',
    'other rules': 'unique (provider_id, account_id)',
    'index user_credentials_user_id_idx': '(user_id)',
    'kept as': 'LOOSE',
  },

  /** State of the sign-in library between two steps of a sign-in. */
  user_verifications: {
    /** A user id or JSON. */
    value: 'text not null',
    expires_at: 'TIME not null',
    id: 'ID primary key',
    identifier: 'ID not null',
    created_at: 'TIME not null',
    updated_at: 'TIME not null',
    'index user_verifications_identifier_idx': '(identifier)',
    'kept as': 'LOOSE',
  },

  user_two_factors: {
    user_id: 'ID not null unique references users (id) on delete cascade',
    /** Encrypted. */
    secret: 'text not null',
    /** A JSON array of digests. */
    backup_codes: 'text not null',
    id: 'ID primary key',
    verified: 'BOOLEAN',
    failed_verification_count: 'integer default 0',
    locked_until: 'TIME',
    'kept as': 'LOOSE',
  },

  /** Second-factor codes that were used, kept for as long as they would be accepted again. */
  used_codes: {
    user_id: 'ID not null references users (id) on delete cascade',
    code: 'ID not null',
    used_at_ms: 'INT not null',
    'primary key': '(user_id, code)',
  },

  user_passkeys: {
    id: 'ID primary key',
    user_id: 'ID not null references users (id) on delete cascade',
    /** The authenticator's name for the passkey, in base64url. */
    credential_id: 'ID not null unique',
    /** A COSE key in base64url. */
    public_key: 'text not null',
    /** The authenticator's count of signatures; stays 0 where it does not count. */
    counter: 'COUNT',
    /** A JSON array of how the authenticator is reached, such as `usb`. */
    transports: 'text not null',
    /** The host name that the passkey was made for. */
    rp_id: 'ID not null',
    name: 'text not null',
    created_at_ms: 'INT not null',
    last_used_at_ms: 'INT',
    'index user_passkeys_by_user': '(user_id)',
  },

  /** Answered challenges, kept for as long as they would be accepted again. */
  used_passkey_challenges: {
    challenge: 'ID primary key',
    expires_at_ms: 'INT not null',
  },

  /** Single-use links; only a digest of each link's token is stored. */
  sign_in_links: {
    token_digest: 'ID primary key',
    kind: "text not null in ('first-run', 'password-reset', 'verify-email')",
    user_id: 'ID references users (id) on delete cascade',
    /** For `verify-email`: the address that the link proves. */
    email: 'ID',
    expires_at_ms: 'INT not null',
    used_at_ms: 'INT',
    'other rules': "check ((kind = 'first-run') = (user_id is null))",
    'index sign_in_links_by_user': '(user_id)',
  },

  /** Programs on other machines that ask for a key; only digests of their codes are stored. */
  device_logins: {
    device_digest: 'ID primary key',
    user_digest: 'ID not null unique',
    /** The program that wants to sign in, and the address of its machine. */
    program: 'text not null',
    address: 'text not null',
    expires_at_ms: 'INT not null',
    is_denied: 'FLAG not null default 0',
    /** These are null until a user has confirmed it. */
    account_id: 'ID references accounts (id)',
    user_id: 'ID references users (id) on delete cascade',
    key_name: 'text',
    /** The address of the browser. */
    confirmed_from: 'text',
    'index device_logins_by_expiry': '(expires_at_ms)',
    'index device_logins_by_user': '(user_id)',
  },

  /** Counts of throttled attempts; `subject` names the action and the user or address. */
  attempts: {
    subject: 'ID primary key',
    count: 'INT not null',
    started_at_ms: 'INT not null',
    blocked_until_ms: 'INT not null',
  },

  account_members: {
    account_id: 'ID not null references accounts (id)',
    user_id: 'ID not null references users (id) on delete cascade',
    role: "text not null in ('viewer', 'member', 'admin', 'owner')",
    created_at_ms: 'INT not null',
    'primary key': '(account_id, user_id)',
    'index account_members_by_user': '(user_id)',
  },

  invitations: {
    id: 'ID primary key',
    account_id: 'ID not null references accounts (id)',
    email: 'ID not null check (email = lower(email))',
    role: "text not null in ('viewer', 'member', 'admin', 'owner')",
    token_digest: 'ID not null unique',
    /**
     * Digest of a second link that was only e-mailed: following it proves the address. null when
     * there is none.
     */
    mailed_token_digest: 'ID',
    /** null when an operator invited by command. */
    invited_by: 'ID references users (id)',
    created_at_ms: 'INT not null',
    expires_at_ms: 'INT not null',
    accepted_at_ms: 'INT',
    'index invitations_by_account': '(account_id, email)',
    'index invitations_by_email': '(email)',
    'unique index invitations_by_mailed_token': '(mailed_token_digest)',
  },

  /** The user to whom a key belongs: who made it, or to whom an owner gave it. */
  key_owners: {
    key_id: 'ID primary key references api_keys (id)',
    ledger_id: 'ID not null references ledgers (id)',
    /** Stays when the user leaves the account. */
    user_id: 'ID not null',
    'index key_owners_by_user': '(ledger_id, user_id)',
  },

  /**
   * The most that a user's keys in an account may spend together. A budget stays when its user leaves
   * the account, because the keys stay.
   */
  member_budgets: {
    account_id: 'ID not null references accounts (id)',
    user_id: 'ID not null',
    daily_micros: 'LIMIT',
    monthly_micros: 'LIMIT',
    'primary key': '(account_id, user_id)',
  },
} as const;
