// A later migration that never was, and the list that ends with it. It shows that the machinery works
// while no real one does.
import { type Kysely, sql } from 'kysely';
import { type Migrations, migrations as real } from '../../src/db/migrations/list.ts';

const run =
  (...statements: string[]) =>
  async (db: Kysely<unknown>) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  };

/** The tables that every request reads or writes. */
const columns = ['accounts', 'api_keys', 'charges', 'entries', 'holds', 'ledgers'].map(
  (table) => `alter table ${table} add column made_up integer not null default 0`,
);
const expand = { up: run(...columns, 'create table made_up (id integer primary key)') };

/** Its second part builds an index beside running gateways, which no transaction can contain. */
const madeUp: Readonly<Record<keyof typeof real, Migrations>> = {
  sqlite: {
    '9998-made-up': expand,
    '9999-made-up-index': { up: run('create index made_up_index on entries (key_id)') },
  },
  postgres: {
    '9998-made-up': expand,
    '9999-made-up-index': {
      up: run(
        'drop index concurrently if exists made_up_index',
        'create index concurrently made_up_index on entries (key_id)',
      ),
      outsideTransaction: true,
    },
  },
};

export const madeUpNames = Object.keys(madeUp.sqlite);

export const migrations: typeof real = {
  sqlite: { ...real.sqlite, ...madeUp.sqlite },
  postgres: { ...real.postgres, ...madeUp.postgres },
};
