// Tollgate with its defaults, on SQLite and on PostgreSQL.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../../tests/support/postgres.ts';
import { chatUsage } from '../bodies.ts';
import { isPinned, pinTo } from '../child.ts';
import { installGateway } from '../gateway.ts';
import type { Book, Peer } from '../side-by-side/peer.ts';
import { treePids } from '../side-by-side/process-tree.ts';
import { chatRequest } from '../side-by-side/requests.ts';
import { modelFor } from '../workloads.ts';

type ReportRow = {
  readonly group: string;
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly revenue_micros: number;
  readonly failed_micros: number;
};

const root = join(import.meta.dirname, '..', '..');
/** At the bench's prices of 1.25 and 10 dollars a million tokens, rounded up to a microdollar. */
const priceMicros = Math.ceil(chatUsage.inputTokens * 1.25 + chatUsage.outputTokens * 10);

/** On PostgreSQL, holds of a killed process are released when its lease ends, within a minute. */
const crashQuietMs = 65_000;

export const tollgateSqlite = tollgate('tollgate-sqlite', 'SQLite, fsync on', async () => ({}));

export const tollgatePostgres = tollgate('tollgate-pg', 'PostgreSQL, fsync on', async (dataDir) => {
  const server = await startPostgres({ parent: dataDir, fsync: true });
  const pidFile = readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8');
  const databasePid = Number.parseInt(pidFile, 10);
  if (isPinned) for (const pid of treePids(databasePid)) pinRunning(pid);
  return { databaseUrl: await server.createDatabase(), databasePid, crashQuietMs };
});

type Database = {
  readonly databaseUrl?: string;
  readonly databasePid?: number;
  readonly crashQuietMs?: number;
};

function tollgate(
  name: string,
  store: string,
  openDatabase: (dataDir: string) => Promise<Database>,
): Peer {
  return {
    name,
    features: {
      auth: 'keys',
      billing: `each request held and charged before its answer ends (${store})`,
      log: 'a line per request',
    },
    telemetry: 'none',
    install: () => {
      const version = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Named)
        .version;
      const commit = ['git', '-C', root, 'rev-parse', '--short', 'HEAD'];
      return `${version}, ${execFileSync(commit[0]!, commit.slice(1), { encoding: 'utf8' }).trim()}`;
    },
    open: async ({ upstreamPort, upstreamKey, dataDir }) => {
      const { databaseUrl, ...database } = await openDatabase(dataDir);
      const { start, run, key, remove } = installGateway(upstreamPort, {
        ...(databaseUrl !== undefined && { databaseUrl }),
        upstreamKey,
      });
      return {
        start,
        key,
        close: remove,
        requestFor: (play) => chatRequest(play, { model: modelFor(play, 'chat') }),
        ...database,
        readBook: () => {
          run('verify');
          return bookOf((run('report', '--by', 'model') as { rows: ReportRow[] }).rows);
        },
      };
    },
  };
}

type Named = { readonly version: string };

function bookOf(rows: readonly ReportRow[]): Book {
  // Requests of killed processes are free, and have no model.
  const charged = rows.filter(({ group }) => group !== '');
  const sum = (field: Exclude<keyof ReportRow, 'group'>) =>
    charged.reduce((total, row) => total + row[field], 0);
  return {
    requests: sum('requests'),
    inputTokens: sum('input_tokens'),
    outputTokens: sum('output_tokens'),
    chargedRequests: sum('revenue_micros') / priceMicros,
    lostRequests: rows.reduce((total, row) => total + row.failed_micros, 0) / priceMicros,
  };
}

/** The database works for this peer alone, so it shares the contestants' core. */
function pinRunning(pid: number): void {
  const [taskset, option, core] = pinTo('contestant') as [string, string, string];
  execFileSync(taskset, ['-a', option, '-p', core, String(pid)], { stdio: 'ignore' });
}
