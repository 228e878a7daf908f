// A PostgreSQL connection whose settings also hold behind a connection pooler, such as PgBouncer in
// transaction mode. There every transaction may run in another session of the server, so session
// settings and prepared statements do not last. Behind a pooler, every statement therefore runs in
// a transaction that begins with `set local …`, sent together in one round trip.
import assert from 'node:assert/strict';
import { callbackify } from 'node:util';
import { Client, type QueryConfig, type QueryResult } from 'pg';

export type SessionSettings = Readonly<Record<string, string | number>>;

type Callback = (error: Error | null, result?: QueryResult) => void;
type Given = [statement: string | QueryConfig, values?: unknown[] | Callback, callback?: Callback];

/** Needs `pipeline: true`. */
export class SessionClient extends Client {
  /** Begins a transaction's settings behind a pooler; null on a direct connection. */
  #localSettings: string | null = null;
  #isInTransaction = false;

  /**
   * Applies the settings to the session, or behind a pooler to every transaction. Call it before
   * any other query.
   */
  async applySettings(settings: SessionSettings): Promise<void> {
    const { rows } = await super.query<AppliedSetting>(applySql(settings, this.#announcedPid));
    if (rows.every(({ applied }) => applied !== null)) return;
    this.#localSettings = rows.flatMap(localSql).join('; ');
  }

  /** `never`: this one signature stands for all of pg's. */
  override query(...given: never[]): never {
    const [statement, second, third] = given as unknown as Given;
    if (this.#localSettings === null)
      return super.query(
        statement as string,
        second as [],
        third as () => void,
      ) as unknown as never;
    const callback = typeof second === 'function' ? second : third;
    const values = typeof second === 'function' ? undefined : second;
    const done = this.#queryPooled(withoutName(statement, values), this.#localSettings);
    if (!callback) return done as never;
    return callbackify(() => done)(callback) as never;
  }

  #queryPooled(statement: QueryConfig, localSettings: string): Promise<QueryResult> {
    const { text } = statement;
    if (/^(begin|start transaction)\b/.test(text)) return this.#begin(text, localSettings);
    if (/^(commit|rollback)$/.test(text)) this.#isInTransaction = false;
    else if (!this.#isInTransaction && !isOutsideTransactions(text))
      return this.#queryAlone(statement, localSettings);
    return super.query(statement);
  }

  /** Statements that are sent before its answer belong to the transaction too. */
  async #begin(text: string, localSettings: string): Promise<QueryResult> {
    this.#isInTransaction = true;
    try {
      return await super.query(`${readingCommitted(text)}; ${localSettings}`);
    } catch (error) {
      this.#isInTransaction = false;
      throw error;
    }
  }

  /**
   * Resolves when the statement is committed. When only `begin` fails, the server runs the
   * statement outside a transaction: its effect is then unknown to the caller.
   */
  async #queryAlone(statement: QueryConfig, localSettings: string): Promise<QueryResult> {
    const [begun, result, ended] = await Promise.allSettled([
      super.query(`${readingCommitted('begin')}; ${localSettings}`),
      super.query(statement),
      super.query('commit'),
    ]);
    if (begun.status === 'rejected') {
      if (result.status === 'rejected') throw begun.reason;
      throw new Error('whether the statement was committed is unknown: its `begin` failed', {
        cause: begun.reason,
      });
    }
    if (result.status === 'rejected') throw result.reason;
    if (ended.status === 'rejected') throw ended.reason;
    assert.equal(ended.value.command, 'COMMIT');
    return result.value;
  }

  /** pg's types lack it. */
  get #announcedPid(): number {
    const { processID } = this as unknown as { readonly processID: unknown };
    assert.ok(typeof processID === 'number');
    return processID;
  }
}

type AppliedSetting = {
  readonly name: string;
  readonly value: string;
  /** null behind a pooler. */
  readonly applied: string | null;
};

/**
 * Applies the settings only to a session of its own, in one statement, so that no setting reaches a
 * session that others share. A pooler is known by the process id that it announced, which is not
 * the id of the server's process. `synchronous_commit`, unless set, stays as strict as the server
 * has it, but is never off.
 */
function applySql(settings: SessionSettings, announcedPid: number): string {
  const commit = `case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end`;
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  if (!Object.hasOwn(settings, 'synchronous_commit'))
    values.push(`('synchronous_commit', ${commit})`);
  return `select name, value, case when pg_backend_pid() = ${announcedPid} then set_config(name, value, false) end as applied
    from (values ${values.join(', ')}) as setting (name, value)`;
}

/** Returns the beginning of a transaction that names its isolation. */
function readingCommitted(begin: string): string {
  return begin.includes('isolation level') ? begin : `${begin} isolation level read committed`;
}

function localSql({ name, value }: AppliedSetting): string[] {
  // Each `begin` names it (`readingCommitted`).
  if (name === 'default_transaction_isolation') return [];
  if (name !== 'default_transaction_read_only') return [`set local ${name} = ${quote(value)}`];
  // The default would come too late for this transaction. Kysely's read-only transactions stay so.
  return value === 'on' ? ['set local transaction_read_only = on'] : [];
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/**
 * Returns true for statements that the server refuses in a transaction. They run with the settings
 * that the pooler's session has.
 */
function isOutsideTransactions(text: string): boolean {
  return /^(create|drop) index concurrently\b/.test(text);
}

/** The next statement may run in another session, which does not know this one's name. */
function withoutName(statement: string | QueryConfig, values: unknown[] | undefined): QueryConfig {
  return typeof statement === 'string'
    ? { text: statement, values }
    : { ...statement, name: undefined, values: values ?? statement.values };
}
