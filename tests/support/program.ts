// The real program for tests: started as a process of its own with a fresh data folder, on a free port, and its command line beside it.
//
//   const program = await startProgram({ config: { limits: { requests_per_minute: null } } });
//   const { key } = await program.createKey({ mode: 'live', creditUsd: 5 });
//   … fetch(`${program.url}/v1/…`) …
//   await program.stop();   // SIGTERM, proves the books with `tollgate verify`, removes the folder
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDatabase } from './postgres.ts';

const root = join(import.meta.dirname, '..', '..');
const entry = join(root, 'dist', 'current', 'main.js');
// A single test file, run by itself, must not try an older build.
execFileSync(process.execPath, [join(root, 'scripts', 'setup.mjs'), '--dev'], { stdio: 'inherit' });
const execFileAsync = promisify(execFile);
const startTimeoutMs = 30_000;

/** A test that dies must not leave a server behind. */
const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

export type ProgramOptions = {
  /** The configuration file's content; JSON is YAML. */
  readonly config?: Readonly<Record<string, unknown>> & { readonly server?: object };
  readonly env?: Readonly<Record<string, string>>;
  /** A PostgreSQL database (`tests/support/postgres.ts`); else SQLite in the data folder. Programs with the same one are replicas. */
  readonly databaseUrl?: string;
};

/** Of every program on PostgreSQL, which makes none of its own. */
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

export class Program {
  readonly dataDir: string;
  readonly databaseUrl: string;
  /** The part of its environment that keys are made with. */
  readonly secretEnv: { readonly TOLLGATE_SECRET?: string };
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | null = null;
  /** Everything printed since the last start. */
  output = '';
  url = '';

  constructor({ config = {}, env = {}, databaseUrl }: ProgramOptions) {
    this.dataDir = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
    const configPath = join(this.dataDir, 'tollgate.yaml');
    // Tests that ask for readiness are no load balancers, for whom the end would wait.
    const server = { shutdown_delay_ms: 0, ...config.server };
    writeFileSync(configPath, JSON.stringify({ ...config, server }));
    this.databaseUrl = databaseUrl ?? `sqlite:${join(this.dataDir, 'tollgate.db')}`;
    this.secretEnv = databaseUrl === undefined ? {} : { TOLLGATE_SECRET: sharedSecret };
    const place = {
      TOLLGATE_DATA_DIR: this.dataDir,
      TOLLGATE_CONFIG: configPath,
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    };
    this.#env = { ...cleanEnvironment(), PORT: '0', ...place, ...this.secretEnv, ...env };
  }

  get pid(): number {
    assert.ok(this.#child?.pid, 'the program does not run');
    return this.#child.pid;
  }

  /** Starts the program and waits until it listens. */
  async start(): Promise<void> {
    this.output = '';
    const child = spawn(process.execPath, [entry, 'serve'], { cwd: root, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    this.url = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the program did not start:\n${this.output}`)), startTimeoutMs);
      const settle = (action: () => void) => {
        clearTimeout(timer);
        action();
      };
      const read = (chunk: Buffer) => {
        this.output += chunk.toString();
        const url = /listens on (http:\S+)/.exec(this.output)?.[1];
        if (url) settle(() => resolve(url));
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.on('exit', (code) => settle(() => reject(new Error(`the program ended with ${code}:\n${this.output}`))));
    });
  }

  /** The test key that the first start printed. */
  get firstTestKey(): string {
    const key = /tg_test_[0-9A-Za-z]+/.exec(this.output)?.[0];
    assert.ok(key, `no test key in:\n${this.output}`);
    return key;
  }

  /** Runs `tollgate <args> --json` beside the program; returns what it printed. */
  async cli<Result = Record<string, unknown>>(...args: string[]): Promise<Result> {
    const { stdout } = await execFileAsync(process.execPath, [entry, ...args, '--json'], { cwd: root, env: this.#env });
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
    const made = await this.cli<{ id: string; key: string }>(
      'keys',
      'create',
      '--account',
      accountId,
      '--mode',
      mode,
      ...options,
    );
    return { ...made, account: accountId };
  }

  async #createAccount(creditUsd: number | undefined): Promise<string> {
    const credit = creditUsd === undefined ? [] : ['--credit-usd', String(creditUsd)];
    return (await this.cli<{ id: string }>('accounts', 'create', '--name', 'Test', ...credit)).id;
  }

  /** Throws with the row that disagrees. */
  async verify(): Promise<void> {
    const result = await this.cli<{ ok: boolean }>('verify');
    assert.equal(result.ok, true, JSON.stringify(result));
  }

  /** Ends the process at once, as a power cut would, and waits until it is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Drains and ends the process; returns its exit code. */
  async terminate(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Ends the process, proves the books, removes the folder. */
  async stop(): Promise<void> {
    try {
      if (this.#child) await this.terminate();
      await this.verify();
    } finally {
      rmSync(this.dataDir, { recursive: true, force: true });
    }
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => resolve(code));
    });
    child.kill(signal);
    return ended;
  }
}

/** With TOLLGATE_TEST_DATABASE=postgres every program is on PostgreSQL: the whole suite can be run on either database. */
export async function startProgram(options: ProgramOptions = {}): Promise<Program> {
  const isOnPostgres = process.env['TOLLGATE_TEST_DATABASE'] === 'postgres';
  const databaseUrl = options.databaseUrl ?? (isOnPostgres ? await createDatabase() : undefined);
  const program = new Program({ ...options, databaseUrl });
  await program.start();
  return program;
}

/** Without the keys and settings of whoever runs the tests: they would switch real providers on. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ', 'SystemRoot', 'NODE_EXTRA_CA_CERTS'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
