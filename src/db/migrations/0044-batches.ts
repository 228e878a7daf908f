// Batches, their lines, and the files that have the lines of OpenAI's: domain/batches/. Holds of lines
// that wait belong to an owner that never ends (terms/batch.ts); the batch's own end releases them.
export const batches = `
create table batch_files (
  id ID primary key, account_id ID not null references accounts (id), mode text not null IS_MODE,
  name text not null, bytes LIMIT, created_at_ms INT not null, expires_at_ms INT not null
) STRICT;
create index batch_files_by_account on batch_files (account_id, mode, created_at_ms, id);
create index batch_files_by_expiry on batch_files (expires_at_ms);

create table batch_file_parts (
  file_id ID not null references batch_files (id), part INT not null, sealed BYTES not null,
  primary key (file_id, part)
) STRICT;

create table batches (
  id ID primary key, account_id ID not null references accounts (id), mode text not null IS_MODE,
  key_id ID not null references api_keys (id), form text not null, endpoint text not null,
  file_id ID, metadata text, request text not null, state text not null, owner ID not null,
  name_digest ID, fingerprint text, lines COUNT default 0, bytes COUNT default 0, counts text,
  created_at_ms INT not null, expires_at_ms INT not null, cancelled_at_ms INT, ended_at_ms INT,
  kept_until_ms INT not null, due_at_ms INT not null,
  output_removed FLAG not null default 0, errors_removed FLAG not null default 0
) STRICT;
create index batches_by_account on batches (account_id, mode, form, created_at_ms, id);
create index batches_by_end on batches (kept_until_ms);
create index batches_open on batches (due_at_ms) where state <> 'ended';
create unique index batches_by_name on batches (key_id, name_digest) where name_digest is not null;

create table batch_lines (
  batch_id ID not null references batches (id), line INT not null, custom_id text not null,
  request_id ID not null, held_micros COUNT, likely_micros COUNT, outcome text, bytes LIMIT,
  owner ID, due_at_ms INT not null, tries INT not null default 0, body BYTES,
  primary key (batch_id, line)
) STRICT;
create index batch_lines_by_outcome on batch_lines (batch_id, outcome, line, bytes);

insert into hold_owners (owner, host, pid, process_started_at_ms, expires_at_ms)
  values ('batches', '', 0, 0, 9000000000000000);
`;
