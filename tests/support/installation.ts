// An installation of the gateway for tests: a fresh data folder with a configuration file, a database, and the command line on them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { builtProgram, root } from './built-program.ts';
import { createDatabase } from './postgres.ts';
import { currentStore } from './test-store.ts';

const execFileAsync = promisify(execFile);

export type InstallationOptions = {
  /** The configuration file's content; JSON is YAML. */
  readonly config?: Readonly<Record<string, unknown>> & { readonly server?: object };
  readonly env?: Readonly<Record<string, string>>;
  /** A PostgreSQL database (`tests/support/postgres.ts`); else SQLite in the data folder. Gateways with the same one are replicas. */
  readonly databaseUrl?: string;
};

/** The secret of every gateway on PostgreSQL, which makes none of its own. */
const sharedSecret = 'a secret that all replicas of the tests have';

export type NewKey = {
  readonly mode?: 'live' | 'test';
  /** An account of an earlier key; else one of its own is made. */
  readonly account?: string;
  readonly creditUsd?: number;
  readonly dailyCapUsd?: number;
  readonly monthlyCapUsd?: number;
  readonly models?: string;
  readonly rpm?: number;
};

/** What a process (`Program`) and a gateway in the test's own process (`RunningApp`) have in common. */
export abstract class Installation {
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** Of the next start, and of the next command. */
  env: Readonly<Record<string, string>>;
  /** Everything printed since the last start; of a gateway in the test's process, its log. */
  output = '';
  url = '';
  /** The time by which the gateway runs. */
  readonly clock: Clock;

  constructor({ config = {}, env = {}, databaseUrl }: InstallationOptions, clock: Clock = systemClock) {
    this.clock = clock;
    this.dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
    const configPath = join(this.dataDir, 'tollgate.yaml');
    // Tests that ask for readiness are no load balancers, for whom the end would wait.
    const server = { shutdown_delay_ms: 0, ...config.server };
    writeFileSync(configPath, JSON.stringify({ ...config, server }));
    this.databaseUrl = databaseUrl ?? `sqlite:${join(this.dataDir, 'tollgate.db')}`;
    const place = {
      TOLLGATE_DATA_DIR: this.dataDir,
      TOLLGATE_CONFIG: configPath,
      ...(databaseUrl && { DATABASE_URL: databaseUrl, TOLLGATE_SECRET: sharedSecret }),
    };
    this.env = { ...cleanEnvironment(), PORT: '0', ...place, ...env };
  }

  /** The test key that the first start made. */
  abstract get firstTestKey(): string;

  /** The token of the link that makes the first user, while there is none. */
  abstract get firstRunToken(): string | null;

  /** Starts the gateway and waits until it listens. */
  abstract start(): Promise<void>;

  /** Drains and ends the gateway, if it runs; returns its exit code. */
  abstract terminate(): Promise<number | null>;

  /** Throws with the row that disagrees. */
  abstract verify(): Promise<void>;

  /** Runs `tollgate <args> --json` beside the gateway; returns what it printed. */
  async cli<Result = Record<string, unknown>>(...args: string[]): Promise<Result> {
    const { stdout } = await execFileAsync(process.execPath, [builtProgram(), ...args, '--json'], { cwd: root, env: this.env });
    return JSON.parse(stdout) as Result;
  }

  async createKey({ mode = 'test', account, creditUsd, dailyCapUsd, monthlyCapUsd, models, rpm }: NewKey = {}) {
    const accountId = account ?? (await this.#createAccount(creditUsd));
    const limits = Object.entries({
      '--daily-cap-usd': dailyCapUsd,
      '--monthly-cap-usd': monthlyCapUsd,
      '--models': models,
      '--rpm': rpm,
    });
    const options = limits.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]));
    const place = ['--account', accountId, '--mode', mode];
    const made = await this.cli<{ id: string; key: string }>('keys', 'create', ...place, ...options);
    return { ...made, account: accountId };
  }

  async #createAccount(creditUsd: number | undefined): Promise<string> {
    const credit = creditUsd === undefined ? [] : ['--credit-usd', String(creditUsd)];
    return (await this.cli<{ id: string }>('accounts', 'create', '--name', 'Test', ...credit)).id;
  }

  /** Ends the gateway, proves the books, removes the folder. */
  async stop(): Promise<void> {
    try {
      await this.terminate();
      await this.verify();
    } finally {
      rmSync(this.dataDir, { recursive: true, force: true });
    }
  }
}

/** Adds a new database where the present store is PostgreSQL. */
export async function databaseFor(options: InstallationOptions): Promise<InstallationOptions> {
  if (currentStore() === 'sqlite' || options.databaseUrl !== undefined) return options;
  return { ...options, databaseUrl: await createDatabase() };
}

/** Without the keys and settings of whoever runs the tests: they would switch real providers on. */
function cleanEnvironment(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'SystemRoot', 'NODE_EXTRA_CA_CERTS'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}

export function assertWhole(result: { readonly ok: boolean }): void {
  assert.equal(result.ok, true, JSON.stringify(result));
}
