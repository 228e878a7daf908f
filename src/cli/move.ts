// `tollgate move`: copies the books to the other kind of database, and checks what arrived.
import type { Db } from '../db/schema.ts';
import { sql } from 'kysely';
import { loadConfig } from '../config/load.ts';
import { loadSecrets, secretFileOf } from '../config/secret.ts';
import {
  type Database,
  explainDatabaseError,
  isPostgresUrl,
  openDatabase,
  sqlitePathOf,
} from '../db/database.ts';
import { finishMove, type MovedTable, moveDatabase } from '../db/move.ts';
import { explainPostgresError } from '../db/postgres/error.ts';
import { claimServing } from '../db/sqlite/serving.ts';
import { compareBookings } from '../domain/billing/compare-bookings.ts';
import { requireSecrets } from '../domain/keys/needed-secrets.ts';
import { verify } from '../domain/ledger/reports/verify.ts';
import { changesOfCommand, requireFile } from './installation.ts';
import { batchOwner } from '../terms/batch.ts';
import { CommandFailed, formatTable, type JsonOption, type Output } from './output.ts';

/** `to`: the URL of a new database, of the other kind than the configured one. */
export async function moveCommand({
  to,
  json,
}: JsonOption & { readonly to: string }): Promise<Output> {
  const { database, dataDir } = loadConfig({ env: process.env, cwd: process.cwd() });
  const [from, isFromPostgres] = [database.url, isPostgresUrl(database.url)];
  if (isFromPostgres ? !/^sqlite:(?!:memory:$)./.test(to) : !isPostgresUrl(to) || !URL.canParse(to))
    throw new CommandFailed(
      `--to must name ${isFromPostgres ? 'a SQLite file, such as sqlite:/var/lib/tollgate/tollgate.db' : 'a PostgreSQL database, such as postgres://user:password@host/database'}: within one kind, use a backup (docs/operations.md)`,
    );
  requireFile(from);
  const secrets = loadSecrets(process.env, dataDir, { isShared: isFromPostgres });
  // No gateway can start on the file meanwhile.
  const release = claimServing(sqlitePathOf(isFromPostgres ? to : from));
  const [source, target] = [from, to].map((url) => openDatabase(url, { noQueryTimeout: true })) as [
    Database,
    Database,
  ];
  try {
    await requireSecrets(source.read, secrets);
    if (isFromPostgres) await refuseRunning(source.read);
    const moved = await moveDatabase(source, target, ({ name, rows }) => {
      if (!json && rows > 0) process.stderr.write(`${name}: ${rows} rows\n`);
    });
    if (isFromPostgres) await refuseRunning(source.read);
    const whole = await verify(target.read, [compareBookings], { all: true });
    if (!whole.ok)
      throw new CommandFailed(
        `the books disagree: ${JSON.stringify(whole.problem)}. Run "tollgate verify --all" on the source`,
      );
    const rows = moved.reduce((sum, table) => sum + table.rows, 0);
    const after = { from: withoutPassword(from), rows };
    const change = { action: 'database.move', subject: withoutPassword(to), after } as const;
    await finishMove(target.write, (write) =>
      changesOfCommand(target, 'move').note({ write }, change),
    );
    const secretFile = isFromPostgres ? null : secretFileOf(process.env, dataDir);
    return report({ moved, to, secretFile });
  } catch (error) {
    const [file, server] = isFromPostgres ? [to, from] : [from, to];
    throw explainPostgresError(explainDatabaseError(error, file), server);
  } finally {
    await Promise.all([source.close(), target.close()]);
    release();
  }
}

/** A gateway on PostgreSQL renews its lease every second. */
async function refuseRunning(read: Db): Promise<void> {
  const { rows } = await sql<{ host: string; pid: number }>`
    select host, pid from hold_owners where owner <> ${batchOwner}
      and expires_at_ms > extract(epoch from clock_timestamp()) * 1000 limit 1`.execute(read);
  const [running] = rows;
  if (running)
    throw new CommandFailed(
      `a gateway uses this database: process ${running.pid} on ${running.host}. Stop all gateways first; one that was killed counts for 40 s more`,
    );
}

type Moved = {
  readonly moved: readonly MovedTable[];
  readonly to: string;
  /** null: the environment has the secret already. */
  readonly secretFile: string | null;
};

function report({ moved, to, secretFile }: Moved): Output {
  const rows = moved
    .filter(({ rows: count }) => count > 0)
    .map(({ name, rows: count, micros }) => [
      name,
      String(count),
      Object.entries(micros)
        .map((sum) => sum.join(' '))
        .join(', '),
    ]);
  const secret =
    secretFile === null
      ? ''
      : ` Gateways there need the secret: TOLLGATE_SECRET is the first line of ${secretFile}, TOLLGATE_SECRETS_ACCEPTED the others.`;
  return [
    { moved },
    `${formatTable(['TABLE', 'ROWS', 'SUMS'], rows)}\n\nAll rows and sums are the same on both sides, and the books are whole. Set DATABASE_URL or database.url to ${withoutPassword(to)}, and start the gateway.${secret} The old database is as it was: no gateway may use it again.`,
  ];
}

function withoutPassword(url: string): string {
  return url.replace(/(:\/\/[^:/@]*):[^@]*@/, '$1:…@');
}
