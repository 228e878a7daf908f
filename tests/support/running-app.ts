// A gateway in the test's own process, over real HTTP: wired by `app.ts` as in the program, on a
// clock that a test may move.
import assert from 'node:assert/strict';
import { startApp } from '../../src/app.ts';
import { compareBookings } from '../../src/domain/billing/compare-bookings.ts';
import { createLog } from '../../src/lib/json-log.ts';
import { openConfig } from '../../src/config/load.ts';
import type { Tuning } from '../../src/config/tuning.ts';
import { loadSecrets } from '../../src/config/secret.ts';
import { isPostgresUrl, openDatabase, sqlitePathOf } from '../../src/db/database.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import {
  assertWhole,
  databaseFor,
  Installation,
  type InstallationOptions,
} from './installation.ts';
import { DescribedAnswers } from './described-answers.ts';
import { writeMigratedFile } from './migrated-file.ts';
import type { TestClock } from './test-clock.ts';
import { until } from './until.ts';

type App = Awaited<ReturnType<typeof startApp>>;

export type RunningAppOptions = InstallationOptions & {
  /** Also drives the ledger's windows and leases. Default: the system's. */
  readonly clock?: TestClock;
  /** Constants of the gateway that the test changes. */
  readonly tuning?: Partial<Tuning>;
};

export class RunningApp extends Installation {
  readonly #testClock: TestClock | undefined;
  readonly #tuning: Partial<Tuning> | undefined;
  #app: App | null = null;
  #firstStart: App['firstStart'] | null = null;
  #failure: Error | null = null;
  #answers: DescribedAnswers | null = null;

  constructor({ clock, tuning, ...options }: RunningAppOptions) {
    super(options, clock);
    this.#tuning = tuning;
    this.#testClock = clock;
  }

  get app(): App {
    assert.ok(this.#app, 'the gateway does not run');
    return this.#app;
  }

  get firstTestKey(): string {
    const key = this.#firstStart?.account.testKey;
    assert.ok(key, 'this start made no test key');
    return key;
  }

  get firstRunToken(): string | null {
    return this.#firstStart?.linkToken ?? null;
  }

  async start(): Promise<void> {
    this.output = '';
    const reader = openConfig({ env: this.env, cwd: this.dataDir, tuning: this.#tuning });
    const config = reader.withSaved({});
    const secrets = loadSecrets(this.env, this.dataDir, {
      isShared: isPostgresUrl(config.database.url),
    });
    const write = (line: string) => {
      this.output += line;
    };
    const log = createLog(config.log.level, { write, writeBatch: () => {} });
    const onLedgerFailure = (error: Error) => (this.#failure = error);
    const time = { clock: this.clock, databaseTime: this.#testClock?.shared };
    this.#app = await startApp({ config, reader, secrets, log, onLedgerFailure, ...time });
    this.#firstStart = this.#app.firstStart;
    this.url = this.#app.url;
    this.#answers ??= new DescribedAnswers({ serviceName: config.service.name });
    this.#answers.watch(this.#port);
  }

  async terminate(): Promise<number | null> {
    const app = this.#app;
    this.#app = null;
    await app?.stop();
    if (app) this.#answers?.unwatch(this.#port);
    if (this.#failure) throw this.#failure;
    return app ? 0 : null;
  }

  /**
   * Ends requests that the test left open, and checks that the gateway has counted all of them out.
   */
  override async stop(): Promise<void> {
    const clock = this.#testClock;
    const runs = this.#app?.gateway.runs;
    try {
      // Otherwise the drain's deadline would end them: after 30 seconds, or never if nobody moves the
      // clock.
      if (clock && runs) await this.#endRuns(clock, runs);
      else runs?.endAll();
    } finally {
      const stopped = super.stop();
      await (clock ? clock.hurry(stopped) : stopped);
    }
    assert.equal(runs?.count ?? 0, 0, 'a request that has ended was not counted out');
    assert.deepEqual(
      this.#answers?.problems ?? [],
      [],
      'answers that the API’s description forbids',
    );
  }

  get #port(): number {
    return Number(new URL(this.url).port);
  }

  async #endRuns(clock: TestClock, runs: App['gateway']['runs']): Promise<void> {
    runs.endAll();
    // The database answers in real time: if the clock hurried, the drain's deadline would pass
    // first.
    await until(async () => {
      await clock.advance(2);
      return runs.count === 0;
    });
  }

  async verify(): Promise<void> {
    const database = openDatabase(this.databaseUrl);
    try {
      assertWhole(await verify(database.read, [compareBookings]));
    } finally {
      await database.close();
    }
  }
}

export async function startRunningApp({
  clock,
  tuning,
  ...options
}: RunningAppOptions = {}): Promise<RunningApp> {
  const place = await databaseFor(options);
  const app = new RunningApp({ ...place, clock, tuning });
  if (place.databaseUrl === undefined) await writeMigratedFile(sqlitePathOf(app.databaseUrl));
  await app.start();
  return app;
}
