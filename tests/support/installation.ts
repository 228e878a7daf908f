// A gateway installation for tests: a new data folder with a configuration file, a database, and
// the command line.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { dataParent } from './data-parent.ts';
import { createDatabase } from './postgres.ts';
import { runCommand } from './run-command.ts';
import { currentStore } from './test-store.ts';

export type InstallationOptions = {
  /** The content of the configuration file; JSON is valid YAML. */
  readonly config?: Readonly<Record<string, unknown>> & {
    readonly server?: object;
    readonly overload?: object;
  };
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A PostgreSQL database (`tests/support/postgres.ts`); default: SQLite in the data folder.
   * Gateways with the same database are replicas.
   */
  readonly databaseUrl?: string;
};

/** The secret of every gateway on PostgreSQL, where gateways do not generate one. */
const sharedSecret = 'a secret that all replicas of the tests have';

export type NewKey = {
  readonly mode?: 'live' | 'test';
  /** The account of an earlier key; by default a new one is made. */
  readonly account?: string;
  readonly creditUsd?: number;
  readonly dailyCapUsd?: number;
  readonly monthlyCapUsd?: number;
  readonly models?: string;
  readonly rpm?: number;
};

/** What a process (`Program`) and a gateway in the test's process (`RunningApp`) have in common. */
export abstract class Installation {
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** The environment of the next start and the next command. */
  env: Readonly<Record<string, string>>;
  /** Everything printed since the last start. For a gateway in the test's process, its log. */
  output = '';
  url = '';
  /** The gateway's current time. */
  readonly clock: Clock;

  constructor(
    { config = {}, env = {}, databaseUrl }: InstallationOptions,
    clock: Clock = systemClock,
  ) {
    this.clock = clock;
    this.dataDir = mkdtempSync(join(dataParent(), 'tollgate-test-'));
    const configPath = join(this.dataDir, 'tollgate.yaml');
    // Tests poll readiness, but they are no load balancers for which a shutdown should wait. A second
    // HTTP thread doubles a start's CPU time: tests where it matters ask for it.
    const server = { shutdown_delay_ms: 0, threads: 1, ...config.server };
    // Other work of the machine delays the event loop; that must not count as overload.
    const overload = { lag_ms: null, ...config.overload };
    writeFileSync(configPath, JSON.stringify({ ...config, server, overload }));
    this.databaseUrl = databaseUrl ?? `sqlite:${join(this.dataDir, 'tollgate.db')}`;
    const place = {
      TOLLGATE_DATA_DIR: this.dataDir,
      TOLLGATE_CONFIG: configPath,
      ...(databaseUrl && { DATABASE_URL: databaseUrl, TOLLGATE_SECRET: sharedSecret }),
    };
    this.env = { ...cleanEnvironment(), PORT: '0', ...place, ...env };
  }

  /** The test key that the first start created. */
  abstract get firstTestKey(): string;

  /** The token of the link that creates the first user; only while there is no user. */
  abstract get firstRunToken(): string | null;

  /** Starts the gateway and waits until it listens. */
  abstract start(): Promise<void>;

  /** Drains and stops the gateway if it runs. Returns its exit code. */
  abstract terminate(): Promise<number | null>;

  /** Throws an error that names the inconsistent row. */
  abstract verify(): Promise<void>;

  /** Runs `tollgate <args> --json` beside the gateway. Returns its output. */
  async cli<Result = Record<string, unknown>>(...args: string[]): Promise<Result> {
    return JSON.parse(await runCommand([...args, '--json'], this.env)) as Result;
  }

  async createKey({
    mode = 'test',
    account,
    creditUsd,
    dailyCapUsd,
    monthlyCapUsd,
    models,
    rpm,
  }: NewKey = {}) {
    const accountId = account ?? (await this.#createAccount(creditUsd));
    const limits = Object.entries({
      '--daily-cap-usd': dailyCapUsd,
      '--monthly-cap-usd': monthlyCapUsd,
      '--models': models,
      '--rpm': rpm,
    });
    const options = limits.flatMap(([name, value]) =>
      value === undefined ? [] : [name, String(value)],
    );
    const place = ['--account', accountId, '--mode', mode];
    const made = await this.cli<{ id: string; key: string }>(
      'keys',
      'create',
      ...place,
      ...options,
    );
    return { ...made, account: accountId };
  }

  async #createAccount(creditUsd: number | undefined): Promise<string> {
    const credit = creditUsd === undefined ? [] : ['--credit-usd', String(creditUsd)];
    return (await this.cli<{ id: string }>('accounts', 'create', '--name', 'Test', ...credit)).id;
  }

  /** Stops the gateway, verifies its books and removes the folder. */
  async stop(): Promise<void> {
    try {
      await this.terminate();
      await this.verify();
    } finally {
      rmSync(this.dataDir, { recursive: true, force: true });
    }
  }
}

/** Adds a new database when the current store is PostgreSQL. */
export async function databaseFor(options: InstallationOptions): Promise<InstallationOptions> {
  if (currentStore() === 'sqlite' || options.databaseUrl !== undefined) return options;
  return { ...options, databaseUrl: await createDatabase() };
}

/** Leaves out the user's own keys and settings, which would switch on real providers. */
function cleanEnvironment(): Record<string, string> {
  const usual = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'SystemRoot', 'NODE_EXTRA_CA_CERTS'];
  // For runs at another date with libfaketime.
  const fakeTime = ['LD_PRELOAD', 'FAKETIME', 'FAKETIME_DONT_FAKE_MONOTONIC', 'NO_FAKE_STAT'];
  return Object.fromEntries(
    [...usual, ...fakeTime].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  );
}

export function assertWhole(result: { readonly ok: boolean }): void {
  assert.equal(result.ok, true, JSON.stringify(result));
}
