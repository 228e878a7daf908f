// Serves HTTP in a thread beside others. What they share is reached through the main thread.
import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { type Serving, startServing } from '../serving.ts';
import { DatabaseUnusable } from '../db/database-error.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { connectSqliteLedger } from '../domain/ledger/sqlite/ledger.ts';
import { openLimits } from '../domain/limits/open-limits.ts';
import { SharedRates } from '../domain/limits/shared-rates.ts';
import { SharedSlots } from '../domain/limits/shared-slots.ts';
import { ActiveRuns } from '../gateway/active-runs.ts';
import { systemClock } from '../lib/clock.ts';
import { collectAfterStart } from '../lib/collect-garbage.ts';
import { newIdWithPrefix } from '../lib/ids.ts';
import { openLogOn } from '../lib/json-log.ts';
import type { Logger } from '../lib/log.ts';
import { readMetrics } from '../lib/metrics/prometheus.ts';
import { ConnectedNameLocks, type NameLocks } from '../lib/name-locks.ts';
import { connectThread, type Remote } from '../lib/thread-calls.ts';
import type { MainCalls, ThreadCalls, ThreadSettings } from './calls.ts';
import { openOwnLedger, type Shared } from './shared.ts';

const clock = systemClock;

export async function serveInThread(): Promise<void> {
  const [settings] = (await once(parentPort!, 'message')) as [ThreadSettings];
  const { config } = settings;
  // Another thread may listen, and so cause calls, before this one has started.
  const { promise: started, resolve: noteStarted } = Promise.withResolvers<Serving>();
  const main: Remote<MainCalls> = connectThread<MainCalls>(parentPort!, {
    noteNameAwaited: (ticket, isAwaited) => nameLocks.noteAwaited(ticket, isAwaited),
    noteLoss: async (ledgerId) => (await started).gateway.books.trust.forget(ledgerId),
    useConfig: async (...asked) => (await started).use(...asked),
    flushLog: () => flush(),
    ownMetrics: async () => readMetrics((await started).metrics),
    countRunning: () => runs.count,
    stop: async (readinessAskedMs) => {
      await (await started).stop(readinessAskedMs);
      flush();
    },
  } satisfies ThreadCalls);
  const nameLocks = new ConnectedNameLocks({
    take: (name, ticket) => main.call('takeName', name, ticket),
    leave: (name, ticket) => main.tell('leaveName', name, ticket),
    giveBack: (name) => main.tell('giveBackName', name),
  });
  const { log, flush } = openLogOn(config.log.level, {
    write: (lines) => main.tell('writeLog', lines),
    flush: () => {},
  });
  const runs = new ActiveRuns(clock);
  const serving = await start(settings, { main, nameLocks, log, runs }).catch(
    (error: unknown): never | Promise<never> => {
      if (!(error instanceof DatabaseUnusable)) throw error;
      // An error that is thrown here loses its class on the way to the main thread.
      main.tell('noteUnusable', error.message);
      return new Promise(() => {});
    },
  );
  noteStarted(serving);
  main.tell('noteListening', serving.url);
  collectAfterStart();
}

type Connected = {
  readonly main: Remote<MainCalls>;
  readonly nameLocks: NameLocks;
  readonly log: Logger;
  readonly runs: ActiveRuns;
};

async function start(settings: ThreadSettings, connected: Connected): Promise<Serving> {
  const { config, secrets } = settings;
  const { main, nameLocks, log, runs } = connected;
  const database = openDatabase(config.database.url, { threads: settings.count });
  const stores = await openStores(settings, { ...connected, database });
  const shared: Shared = {
    ...stores,
    addressRates: { take: (...asked) => main.call('takeFromAddress', ...asked) },
    dailyBytes: { take: (...asked) => main.call('takeDailyBytes', ...asked) },
    nameLocks,
    health: settings.health,
    settings: {
      resolve: (asked) => main.call('resolveSettings', asked),
      apply: () => main.call('applySettings'),
      state: () => main.call('settingsState'),
    },
    threads: {
      count: settings.count,
      isFirst: settings.index === 0,
      sumMemory: (ownBytes) => {
        settings.memoryUsed[settings.index] = ownBytes;
        return settings.memoryUsed.reduce((sum, bytes) => sum + bytes, 0);
      },
      readMetrics: () => main.call('readMetrics'),
      noteReadinessAsked: () => main.tell('noteReadinessAsked'),
      noteLoss: (ledgerId) => main.tell('noteLoss', ledgerId),
    },
  };
  return startServing(
    { config, secrets, log, clock },
    { database, runs, shared },
    { reusePort: true },
  );
}

type Parts = Connected & { readonly database: Database };

/** Opens the ledger and the limits. On PostgreSQL a thread shares them as a gateway does. */
async function openStores(
  { ledger: connected }: ThreadSettings,
  { database, main, log, runs }: Parts,
): Promise<Pick<Shared, 'owner' | 'ledger' | 'limits' | 'close'>> {
  const isStopping = () => runs.isEnding;
  const onError = (err: unknown) => log.error({ err }, 'rate limits cannot be shared');
  const owner = connected?.owner ?? newIdWithPrefix('run');
  const ledger = connected
    ? connectSqliteLedger(connected.port, {
        onTrouble: (err) => log.error({ err }, 'the ledger cannot be written; retrying'),
        isStopping,
        clock,
      })
    : await openOwnLedger(owner, { database, log, isStopping, clock });
  const limits = connected
    ? limitsOver(main, onError)
    : openLimits({ database, owner, onError, clock });
  const close = async () => {
    await limits.close();
    await ledger.close();
  };
  return { owner, ledger, limits, close };
}

function limitsOver(main: Remote<MainCalls>, onError: (error: unknown) => void): Shared['limits'] {
  const rates = new SharedRates({
    exchange: (requests) => main.call('exchangeRates', requests),
    onError,
    clock,
  });
  const slots = new SharedSlots({
    exchange: (requests) => main.call('exchangeSlots', requests),
    onError,
    clock,
  });
  const close = async () => {
    await Promise.all([rates.close(), slots.close()]);
  };
  return { rates, slots, close };
}
