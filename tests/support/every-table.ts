// Puts rows into each table that a test's gateway has left empty, with values that databases write
// differently: large numbers, flags, times, bytes, nulls, texts of all scripts.
import assert from 'node:assert/strict';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';

const rowsEach = 3;
const texts = ['ä "quoted" \\ line\nbreak 🎉', "it's", 'ＦＵＬＬ\u00a0width\t', '~', 'Z', 'a', 'ﬀ'];

/** Values by `table.column`, where neither a check nor a reference of the table says what it wants. */
const wanted: Readonly<Record<string, SQLInputValue>> = {
  'sign_in_links.kind': 'password-reset',
  'idempotent_responses.state': 'stored',
  // The lease of a gateway that has ended.
  'hold_owners.expires_at_ms': 1,
};

/** Tables that must agree with the books, which only a gateway writes. */
const books = (
  'entries charges holds key_windows ledgers loss_days charge_days charge_tags tag_days ' +
  'sealed_days payment_bookings'
).split(' ');

/** Returns the tables that stay empty, because a gateway did not write them. */
export function fillEveryTable(path: string): string[] {
  const connection = new DatabaseSync(path);
  connection.exec('pragma foreign_keys = on');
  const names = connection
    .prepare(
      `select name from sqlite_master where type = 'table' and name not like 'sqlite%' and name not like 'kysely%'`,
    )
    .all()
    .map((row) => row['name'] as string);
  const countOf = (table: string) =>
    connection.prepare(`select count(*) as rows from ${table}`).get()!['rows'] as number;
  const empty = names.filter((table) => countOf(table) === 0);
  for (
    let rest = empty.filter((table) => !books.includes(table)), tries = 0;
    rest.length > 0;
    tries += 1
  ) {
    assert.ok(tries < 9, `these tables cannot be filled: ${rest.join(', ')}`);
    rest = rest.filter((table) => !fill(connection, table));
  }
  connection.close();
  return empty.filter((table) => books.includes(table));
}

/** Returns false when a table that it refers to is still empty. */
function fill(connection: DatabaseSync, table: string): boolean {
  const columns = connection.prepare(`pragma table_info(${table})`).all() as unknown as readonly {
    readonly name: string;
    readonly type: string;
    readonly notnull: number;
    readonly pk: number;
  }[];
  const { sql } = connection.prepare('select sql from sqlite_master where name = ?').get(table) as {
    readonly sql: string;
  };
  const foreign = connection.prepare(`pragma foreign_key_list(${table})`).all();
  const references = new Map(foreign.map((key) => [key['from'] as string, key['table'] as string]));
  for (let index = 0; index < rowsEach; index += 1) {
    const values: SQLInputValue[] = [];
    for (const { name, type, notnull: isRequired, pk } of columns) {
      const to = references.get(name);
      const special = wanted[`${table}.${name}`] ?? firstAllowed(sql, name);
      const target =
        to === undefined || to === table
          ? undefined
          : (connection.prepare(`select id from ${to} order by id limit 1 offset ${index}`).get() ??
            connection.prepare(`select id from ${to} order by id limit 1`).get());
      if (to !== undefined && to !== table && !target) return false;
      if (target) values.push(target['id'] as string);
      else if (special !== undefined) values.push(special);
      else if (
        isRequired === 0 &&
        pk === 0 &&
        index === 0 &&
        name !== 'expires_at_ms' &&
        name !== 'user_id'
      )
        values.push(null);
      else values.push(valueOf(type.toLowerCase(), name, index));
    }
    connection
      .prepare(
        `insert into ${table} values (${values.map(() => '?').join(', ')}) on conflict do nothing`,
      )
      .run(...values);
  }
  return true;
}

/** The first text that a check of the table allows: `kind in ('a', 'b')`, `mode = 'live' or …`. */
function firstAllowed(sql: string, name: string): string | undefined {
  return new RegExp(`\\b${name}\\s*(?:in\\s*\\(|=)\\s*'([^']+)'`, 'i').exec(sql)?.[1];
}

function valueOf(type: string, name: string, index: number): SQLInputValue {
  if (type === 'blob') return Buffer.from([index, 0, 255, 10]);
  if (type === 'date') return new Date(1_764_000_000_000 + index).toISOString();
  if (type === 'text')
    return `${index}${name === 'email' ? 'a@example.com' : texts[(index + name.length) % texts.length]}`;
  const isFlag = /^(is_|streamed|include_content|email_verified|two_factor|verified)/.test(name);
  return isFlag
    ? index % 2
    : /_ms$|_micros$/.test(name)
      ? Number.MAX_SAFE_INTEGER - index
      : index + 1;
}
