// Metrics of the process: its version, and connections to PostgreSQL.
import packageJson from '../../../package.json' with { type: 'json' };
import { isPostgresUrl, type Database } from '../../db/database.ts';
import type { PoolState } from '../../db/pool-state.ts';
import type { Ledger } from '../../domain/ledger/commands.ts';
import type { ThreadsView } from '../context.ts';
import type { Metric, Sample } from './metric.ts';

type Sources = {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly threads: ThreadsView;
};

/** The same in all threads. */
export function buildInfo({ database, threads }: Sources): Metric {
  const { version } = packageJson;
  const store = isPostgresUrl(database.url) ? 'postgres' : 'sqlite';
  return {
    name: 'build_info',
    type: 'gauge',
    help: 'Always 1; the labels tell the version, the kind of database and the number of HTTP threads.',
    aggregator: 'max',
    read: () => [
      { labels: { version, database: store, threads: String(threads.count) }, value: 1 },
    ],
  };
}

export function accountSpans(total: Readonly<Record<'sent' | 'dropped', number>>): Metric {
  return {
    name: 'account_spans_total',
    type: 'counter',
    help: 'Spans that accounts export to receivers of their own, by what became of them.',
    read: () => [
      { labels: { outcome: 'sent' }, value: total.sent },
      { labels: { outcome: 'dropped' }, value: total.dropped },
    ],
  };
}

export function keptBodies(total: Readonly<Record<'kept' | 'dropped', number>>): Metric {
  return {
    name: 'kept_bodies_total',
    type: 'counter',
    help: 'Requests whose key keeps bodies, by whether they were stored or dropped for lack of memory.',
    read: () => [
      { labels: { outcome: 'kept' }, value: total.kept },
      { labels: { outcome: 'dropped' }, value: total.dropped },
    ],
  };
}

export function poolMetrics({ database, ledger }: Sources): readonly Metric[] {
  const ofPools = (
    { name, help }: Pick<Metric, 'name' | 'help'>,
    samplesOf: (pool: PoolState) => readonly Sample[],
  ): Metric => ({
    name,
    type: 'gauge',
    help: `${help} None on SQLite.`,
    read: () => [...database.pools(), ...(ledger.pool ? [ledger.pool()] : [])].flatMap(samplesOf),
  });
  return [
    ofPools(
      { name: 'database_connections', help: 'Open connections to PostgreSQL.' },
      ({ name: pool, used, idle }) => [
        { labels: { pool, state: 'used' }, value: used },
        { labels: { pool, state: 'idle' }, value: idle },
      ],
    ),
    ofPools(
      { name: 'database_connections_max', help: 'The most connections that the pool may open.' },
      ({ name: pool, max }) => [{ labels: { pool }, value: max }],
    ),
    ofPools(
      { name: 'database_waiting', help: 'Queries that wait for a connection to PostgreSQL.' },
      ({ name: pool, waiting }) => [{ labels: { pool }, value: waiting }],
    ),
  ];
}
