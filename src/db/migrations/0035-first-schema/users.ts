// Users, their sessions, and account members. The first five tables belong to the sign-in library,
// under our names.
export const users = `
create table users (
  id ID primary key, name text not null, email ID not null unique check (email = lower(email)),
  email_verified BOOLEAN not null default FALSE, image text,
  two_factor_enabled BOOLEAN default FALSE, created_at TIME not null, updated_at TIME not null,
  is_operator INT not null default 0 check (is_operator in (0, 1)),
  own_account_id ID references accounts (id),
  promised_credit_micros COUNT default 0
);

create table user_sessions (
  id ID primary key, user_id ID not null references users (id) on delete cascade,
  token ID not null unique, ip_address text, user_agent text, created_at TIME not null,
  updated_at TIME not null, expires_at TIME not null
);
create index user_sessions_user_id_idx on user_sessions (user_id);

create table user_credentials (
  id ID primary key, user_id ID not null references users (id) on delete cascade,
  provider_id ID not null, account_id ID not null, password text, access_token text,
  refresh_token text, id_token text, access_token_expires_at TIME, refresh_token_expires_at TIME,
  scope text, created_at TIME not null, updated_at TIME not null,
  unique (provider_id, account_id)
);
create index user_credentials_user_id_idx on user_credentials (user_id);

create table user_verifications (
  id ID primary key, identifier ID not null, value text not null, expires_at TIME not null,
  created_at TIME not null, updated_at TIME not null
);
create index user_verifications_identifier_idx on user_verifications (identifier);

create table user_two_factors (
  id ID primary key, user_id ID not null unique references users (id) on delete cascade,
  secret text not null, backup_codes text not null, verified BOOLEAN,
  failed_verification_count integer default 0, locked_until TIME
);

create table used_codes (
  user_id ID not null references users (id) on delete cascade, code ID not null,
  used_at_ms INT not null,
  primary key (user_id, code)
) STRICT;

create table user_passkeys (
  id ID primary key, user_id ID not null references users (id) on delete cascade,
  credential_id ID not null unique, public_key text not null, counter COUNT,
  transports text not null, rp_id ID not null, name text not null, created_at_ms INT not null,
  last_used_at_ms INT
) STRICT;
create index user_passkeys_by_user on user_passkeys (user_id);

create table used_passkey_challenges (challenge ID primary key, expires_at_ms INT not null) STRICT;

create table sign_in_links (
  token_digest ID primary key,
  kind text not null check (kind = 'first-run' or kind = 'password-reset' or kind = 'verify-email'),
  user_id ID references users (id) on delete cascade, email ID, expires_at_ms INT not null,
  used_at_ms INT,
  check ((kind = 'first-run') = (user_id is null))
) STRICT;
create index sign_in_links_by_user on sign_in_links (user_id);

create table attempts (
  subject ID primary key, count INT not null, started_at_ms INT not null,
  blocked_until_ms INT not null
) STRICT;

create table account_members (
  account_id ID not null references accounts (id),
  user_id ID not null references users (id) on delete cascade,
  role text not null IS_ROLE,
  created_at_ms INT not null,
  primary key (account_id, user_id)
) STRICT;
create index account_members_by_user on account_members (user_id);

-- A mailed link proves an address; one that was shown to the inviter does not.
create table invitations (
  id ID primary key, account_id ID not null references accounts (id),
  email ID not null check (email = lower(email)),
  role text not null IS_ROLE,
  token_digest ID not null unique, invited_by ID references users (id),
  created_at_ms INT not null, expires_at_ms INT not null, accepted_at_ms INT,
  mailed_token_digest ID
) STRICT;
create index invitations_by_account on invitations (account_id, email);
create index invitations_by_email on invitations (email);
create unique index invitations_by_mailed_token on invitations (mailed_token_digest);

create table key_owners (
  key_id ID primary key references api_keys (id), ledger_id ID not null references ledgers (id),
  user_id ID not null
) STRICT;
create index key_owners_by_user on key_owners (ledger_id, user_id);

create table member_budgets (
  account_id ID not null references accounts (id), user_id ID not null, daily_micros LIMIT,
  monthly_micros LIMIT,
  primary key (account_id, user_id)
) STRICT;
`;
