// Programs on other machines that ask for a key: domain/users/device-logins.ts.
export const deviceLogins = `
-- Who has confirmed it, for which account; all null until then.
create table device_logins (
  device_digest ID primary key, user_digest ID not null unique,
  program text not null, address text not null, expires_at_ms INT not null,
  is_denied FLAG not null default 0,
  account_id ID references accounts (id), user_id ID references users (id) on delete cascade,
  key_name text, confirmed_from text
) STRICT;
create index device_logins_by_expiry on device_logins (expires_at_ms);
create index device_logins_by_user on device_logins (user_id);
`;
