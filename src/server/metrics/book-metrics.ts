// Metrics of the books: how long they take, what is held, and the work that follows a charge. What
// is read from the database is reported by one thread, with `scope="database"`: every gateway on it
// reports the same, so that a sum over gateways would be wrong.
import type { Database } from '../../db/database.ts';
import type { Ledger } from '../../domain/ledger/commands.ts';
import { readOpenHolds, type OpenHolds } from '../../domain/ledger/reports/open-holds.ts';
import type { Meter } from '../../gateway/meter.ts';
import { timeLimit, type Clock } from '../../lib/clock.ts';
import type { ServerContext } from '../context.ts';
import { single, timingsMetric, type Metric } from './metric.ts';

type Sources = Pick<ServerContext, 'sealing' | 'billing'> & {
  readonly meter: Meter;
  readonly ledger: Ledger;
  readonly database: Database;
  readonly clock: Clock;
};

/** Below the usual timeout of a scrape, so that the other metrics arrive. */
const readMsMax = 3_000;

/** What every thread reports. */
export function ledgerMetrics({ meter, ledger }: Sources): readonly Metric[] {
  return [
    timingsMetric(
      {
        name: 'ledger_commit_seconds',
        help: 'From the submission of a command, such as settle, until it is durable.',
      },
      ['command'],
      meter.commandTimes,
    ),
    single({
      name: 'ledger_waiting_commands',
      type: 'gauge',
      help: 'Commands that are not durable yet: those of the batch being written, and the queue behind it.',
      value: () => meter.commandsWaiting,
    }),
    single({
      name: 'ledger_failing',
      type: 'gauge',
      help: '1 while the ledger cannot be written.',
      aggregator: 'max',
      value: () => Number(ledger.isFailing()),
    }),
  ];
}

/** What one thread of the process reports. */
export function bookMetrics(sources: Sources): readonly Metric[] {
  const { sealing, billing, clock } = sources;
  const holds = sharedReads(() => readHolds(sources));
  const ofHolds = (
    { name, help }: Pick<Metric, 'name' | 'help'>,
    value: (holds: OpenHolds) => number,
  ): Metric => ({
    name,
    type: 'gauge',
    help: `${help} The same on all gateways of a database: use max, not sum.`,
    read: async () =>
      Object.entries((await holds()) ?? {}).map(([mode, ofMode]) => ({
        labels: { mode, scope: 'database' },
        value: value(ofMode),
      })),
  });
  return [
    {
      name: 'database_up',
      type: 'gauge',
      help: '1 if the database answered this scrape.',
      read: async () => [{ labels: {}, value: Number((await holds()) !== null) }],
    },
    ofHolds({ name: 'open_holds', help: 'Open holds.' }, ({ count }) => count),
    ofHolds(
      { name: 'held_micros', help: 'Microdollars in open holds.' },
      ({ amountMicros }) => amountMicros,
    ),
    ofHolds(
      { name: 'oldest_hold_age_seconds', help: 'Age of the oldest open hold; 0: there is none.' },
      ({ oldestAtMs }) =>
        oldestAtMs === null ? 0 : Math.max(0, clock.nowMs() - oldestAtMs) / 1_000,
    ),
    single({
      name: 'sealed_until_seconds',
      type: 'gauge',
      help: 'The end of the last sealed day of the ledger, in Unix seconds; 0 before the first look.',
      value: () => sealing.sealedUntilMs / 1_000,
    }),
    single({
      name: 'sealing_problem',
      type: 'gauge',
      help: '1 if the last look found a day that cannot be sealed, exported or removed.',
      value: () => Number(sealing.hasProblem),
    }),
    {
      name: 'task_last_success_timestamp_seconds',
      type: 'gauge',
      help: 'When a repeated task last succeeded, in Unix seconds: billing each minute, sealing each hour. The start counts as success.',
      read: () => [
        { labels: { task: 'billing' }, value: billing.checkedAtMs / 1_000 },
        { labels: { task: 'sealing' }, value: sealing.lookedAtMs / 1_000 },
      ],
    },
  ];
}

/** Returns null when the database does not answer soon. */
async function readHolds({ database, clock }: Sources) {
  const read = readOpenHolds(database.read).catch(() => null);
  return (await Promise.race([read, timeLimit(clock, readMsMax)])) ?? null;
}

/** Returns a function whose callers share a read under way: the metrics of one scrape. */
function sharedReads<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | null = null;
  return () => (reading ??= read().finally(() => (reading = null)));
}
