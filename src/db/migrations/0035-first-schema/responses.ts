// Answers and bodies that are kept for a while. One index of the cache serves expiry, age and size,
// because all rows are kept equally long and the oldest expire first.
export const responses = `
-- Requests under an Idempotency-Key: running ones, and the answers of successful ones.
create table idempotent_responses (
  key_id ID not null references api_keys (id), key_digest ID not null, fingerprint ID not null,
  state text not null check (state = 'running' or state = 'stored'), owner ID not null,
  request_id ID not null unique, status INT, content_type text, headers text, body BYTES,
  stored_at_ms INT, expires_at_ms INT, cost_micros LIMIT, input_tokens LIMIT, output_tokens LIMIT,
  primary key (key_id, key_digest),
  check ((state = 'stored') = (expires_at_ms is not null))
) STRICT;
create index idempotent_responses_by_expiry on idempotent_responses (expires_at_ms);

create table cached_responses (
  account_id ID not null, digest ID not null, generation INT not null, content_type text not null,
  headers text not null, body BYTES not null, size_bytes INT not null, created_at_ms INT not null,
  expires_at_ms INT not null, cost_micros LIMIT, input_tokens LIMIT, output_tokens LIMIT,
  primary key (account_id, digest)
) STRICT;
create index cached_responses_by_expiry
  on cached_responses (expires_at_ms, account_id, digest, size_bytes);
create index cached_responses_by_generation on cached_responses (account_id, generation);

-- Bodies of keys whose owner wants them kept. Rows are removed by expiry, by age beyond a budget,
-- and by generation when an account's stored answers are erased.
create table kept_bodies (
  account_id ID not null, request_id ID not null, key_id ID not null, generation INT not null,
  created_at_ms INT not null, expires_at_ms INT not null, size_bytes INT not null,
  streamed INT not null, request_bytes INT, answer_bytes INT, request BYTES, answer BYTES,
  primary key (account_id, request_id)
) STRICT;
create index kept_bodies_by_expiry
  on kept_bodies (expires_at_ms, account_id, request_id, size_bytes);
create index kept_bodies_by_age
  on kept_bodies (created_at_ms, account_id, request_id, size_bytes);
create index kept_bodies_by_generation
  on kept_bodies (account_id, generation, request_id, size_bytes);
`;
