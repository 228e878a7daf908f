// Tags of requests: beside each charge, summed by day, and in the history of requests. Only a
// request with tags writes rows.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const statements = (isSqlite: boolean) => {
  const id = isSqlite ? 'text' : 'text collate "C"';
  const integer = isSqlite ? 'integer' : 'bigint';
  const end = isSqlite ? 'strict, without rowid' : '';
  return [
    `create table charge_tags (
      ledger_id ${id} not null,
      tag ${id} not null,
      created_at_ms ${integer} not null,
      charge_id ${id} not null,
      primary key (ledger_id, tag, created_at_ms, charge_id)
    ) ${end}`,
    // By this, the tags of a charge are read, and old ones removed.
    `create index charge_tags_by_time on charge_tags (ledger_id, created_at_ms, charge_id)`,
    `create table tag_days (
      ledger_id ${id} not null,
      tag ${id} not null,
      day ${id} not null,
      key_id ${id} not null,
      model_id ${id} not null,
      requests ${integer} not null,
      input_tokens ${integer} not null,
      output_tokens ${integer} not null,
      cost_micros ${integer} not null,
      primary key (ledger_id, tag, day, key_id, model_id)
    ) ${end}`,
    `create index tag_days_by_day on tag_days (ledger_id, day)`,
    `alter table request_log add column tags text`,
  ];
};

export const tags: Migration = migration(statements(true));
export const tagsOnPostgres: Migration = migration(statements(false));

function migration(texts: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}
