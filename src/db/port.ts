// The database port: what the rest of Tollgate uses. There are several Kysely instances because on
// SQLite a reader must not wait for a write transaction, and a transient row must not wait for the
// disk. Charged requests never write through here: the ledger has its own writer
// (domain/ledger/open-ledger.ts).
import type { PoolState } from './pool-state.ts';
import type { Db } from './schema.ts';

export type Database = {
  /** As configured, for the ledger, which opens its own connection. */
  readonly url: string;
  /**
   * For queries. Several statements see one snapshot inside `transaction().setAccessMode('read
   * only')`.
   */
  readonly read: Db;
  /**
   * For accounts and keys. Transactions must be short and wait for nothing else, because they block
   * the ledger's writer.
   */
  readonly write: Db;
  /**
   * For rows that are useless after a power cut, such as idempotency claims: commits do not wait
   * for the disk. They survive a crash of the process, and reach the disk with the next durable
   * commit of any connection.
   */
  readonly transient: Db;
  /**
   * Brings the tables up to date, all or nothing. Returns the names of the migrations that ran.
   * Safe to run in many processes.
   */
  readonly migrate: () => Promise<readonly string[]>;
  /** Returns the pools that have been used; none on SQLite, which has no pools. */
  readonly pools: () => readonly PoolState[];
  readonly close: () => Promise<void>;
};

export type DatabaseOptions = {
  /** For commands that read the whole ledger. */
  readonly noQueryTimeout?: boolean;
  /** Threads of the process that each open the database: they share its connections. */
  readonly threads?: number;
};
