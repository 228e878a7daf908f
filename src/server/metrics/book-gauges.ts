// What is read of the books: what is held, and the work that follows a charge. One thread reads it
// from the database, with `scope="database"`: every gateway on it reports the same, so that a sum
// over gateways would be wrong.
import { readOpenHolds, type OpenHolds } from '../../domain/ledger/reports/open-holds.ts';
import { timeLimit } from '../../lib/clock.ts';
import type { Gauges } from '../../lib/metrics/registry.ts';
import type { ServerContext } from '../context.ts';

type GaugeSources = Pick<ServerContext, 'gateway' | 'database' | 'sealing' | 'billing'>;

/** Below the usual timeout of a scrape, so that the other metrics arrive. */
const readMsMax = 3_000;

export function bookGauges(sources: GaugeSources): Gauges {
  const { sealing, billing, gateway } = sources;
  const holds = sharedReads(() => readHolds(sources));
  const ofHolds = (help: string, value: (holds: OpenHolds) => number): Gauges[string] => [
    `${help} The same on all gateways of a database: use max, not sum.`,
    async () =>
      Object.entries((await holds()) ?? {}).map(([mode, ofMode]) => ({
        labels: { mode, scope: 'database' },
        value: value(ofMode),
      })),
  ];
  return {
    tollgate_database_up: [
      '1 if the database answered this scrape.',
      async () => Number((await holds()) !== null),
    ],
    tollgate_open_holds: ofHolds('Open holds.', ({ count }) => count),
    tollgate_held_micros: ofHolds(
      'Microdollars in open holds.',
      ({ amountMicros }) => amountMicros,
    ),
    tollgate_oldest_hold_age_seconds: ofHolds(
      'Age of the oldest open hold, lines that wait in batches aside; 0: there is none.',
      ({ oldestAtMs }) =>
        oldestAtMs === null ? 0 : Math.max(0, gateway.clock.nowMs() - oldestAtMs) / 1_000,
    ),
    tollgate_sealed_until_seconds: [
      'The end of the last sealed day of the ledger, in Unix seconds; 0 before the first look.',
      () => sealing.sealedUntilMs / 1_000,
    ],
    tollgate_sealing_problem: [
      '1 if the last look found a day that cannot be sealed, exported or removed.',
      () => Number(sealing.hasProblem),
    ],
    tollgate_task_last_success_timestamp_seconds: [
      'When a repeated task last succeeded, in Unix seconds: billing each minute, sealing each hour. The start counts as success.',
      () => [
        { labels: { task: 'billing' }, value: billing.checkedAtMs / 1_000 },
        { labels: { task: 'sealing' }, value: sealing.lookedAtMs / 1_000 },
      ],
    ],
  };
}

/** Returns null when the database does not answer soon. */
async function readHolds({ database, gateway }: GaugeSources) {
  const read = readOpenHolds(database.read).catch(() => null);
  return (await Promise.race([read, timeLimit(gateway.clock, readMsMax)])) ?? null;
}

/** Returns a function whose callers share a read under way: the metrics of one scrape. */
function sharedReads<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | null = null;
  return () => (reading ??= read().finally(() => (reading = null)));
}
