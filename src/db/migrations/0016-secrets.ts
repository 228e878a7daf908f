// The secret that each key's digest was made with, and the secrets that the database still needs.
// Rehashing a key's digest does not change the key for caches, so it does not raise the revision of
// all keys.
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const table = (text: string, integer: string) =>
  `create table secrets (id ${text} primary key, current_since_ms ${integer} not null)`;
const column = (text: string) => `alter table api_keys add column secret_id ${text}`;

export const secrets: Migration = migration([
  `${table('text', 'integer')} strict, without rowid`,
  column('text'),
  `drop trigger keys_revision_after_update_on_api_keys`,
  `create trigger keys_revision_after_update_on_api_keys after update on api_keys when old.digest = new.digest begin
    update revisions set value = value + 1 where name = 'keys';
  end`,
]);

const id = 'text collate "C"';

export const secretsOnPostgres: Migration = migration([
  table(id, 'bigint'),
  column(id),
  `drop trigger keys_revision_after_change on api_keys`,
  `create trigger keys_revision_after_change after insert or delete on api_keys
    for each row execute function raise_keys_revision()`,
  `create trigger keys_revision_after_key_update after update on api_keys
    for each row when (old.digest = new.digest) execute function raise_keys_revision()`,
]);

function migration(statements: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}
