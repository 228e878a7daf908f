// The database tables as TypeScript types, the same for both databases, derived from their
// descriptions (tables.ts). Times are Unix milliseconds, money is whole microdollars, and flags are
// 0 or 1 because SQLite has no boolean.
import type { ColumnType, Generated, Kysely } from 'kysely';
import type { Micros } from '../lib/money.ts';
import type { tables } from './tables.ts';

type Described = typeof tables;

export type Tables = { -readonly [Name in keyof Described]: Columns<Described[Name]> };

/** A connection of one purpose, or a transaction. */
export type Db = Kysely<Tables>;

/** Roles in an account, in ascending order: each may do everything that the previous one may. */
export type Role = Tables['account_members']['role'];
export type EntryKind = Tables['entries']['kind'];

type Columns<Table> = {
  -readonly [Name in keyof Table as Name extends `${string} ${string}` ? never : Name]: Column<
    Name,
    Table[Name]
  >;
};

/**
 * A time column of the sign-in library: PostgreSQL returns a Date, SQLite an ISO text; both accept
 * an ISO text.
 */
type LibraryTime = ColumnType<Date | string, string, string>;
/**
 * A flag column of the sign-in library: PostgreSQL returns a boolean, SQLite 0 or 1; both accept 0
 * or 1.
 */
type LibraryFlag = ColumnType<boolean | 0 | 1 | null, 0 | 1 | undefined, 0 | 1>;

type Column<Name, Text> = Text extends `BOOLEAN${string}`
  ? LibraryFlag
  : Text extends `TIME${string}`
    ? LibraryTime | NullOf<Text>
    : Text extends `SEQUENCE${string}` | `${string} default ${string}`
      ? Generated<Value<Name, Text> | NullOf<Text>>
      : Value<Name, Text> | NullOf<Text>;

type Value<Name, Text> = Text extends `${'ID' | 'text'}${string}`
  ? Words<Text>
  : Text extends `BYTES${string}`
    ? Uint8Array
    : Text extends `FLAG${string}`
      ? 0 | 1
      : Name extends `${string}_micros`
        ? Micros
        : number;

type NullOf<Text> = Text extends
  | `${string}${'not null' | 'primary key'}${string}`
  | `COUNT${string}`
  ? never
  : null;

/** The values that a column of texts lists; any text when it lists none. */
type Words<Text> = Text extends `${string} ${'in' | 'VALUES'} ('${infer List}')`
  ? Listed<List>
  : string;
type Listed<List extends string> = List extends `${infer First}', '${infer Rest}`
  ? First | Listed<Rest>
  : List;
