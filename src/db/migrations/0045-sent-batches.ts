// Batches at providers' own batch APIs: domain/batches/sent-batches.ts. Their lines belong to the owner
// that never ends (terms/batch.ts), so no process runs them meanwhile, also none of an earlier version.
export const sentBatches = `
create table sent_batches (
  id ID primary key, batch_id ID not null references batches (id), provider text not null,
  model text not null, format text not null, state text not null, remote_id text, file_id text,
  lines COUNT default 0, tries INT not null default 0, owner ID, created_at_ms INT not null,
  sent_at_ms INT, due_at_ms INT not null
) STRICT;
create index sent_batches_due on sent_batches (due_at_ms);
create index sent_batches_by_batch on sent_batches (batch_id);
alter table batch_lines add column sent_id ID;
`;
