// The gateway as an operator runs it, with billing on: the real program, a live key with money, the
// ledger in a file on disk.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild, type Child, type ChildOptions } from './child.ts';
import { modelFor, type Play } from './workloads.ts';

export const metricsToken = 'bench-metrics-token';

const root = join(import.meta.dirname, '..');
const plays: readonly Play[] = ['whole', 'burst', 'paced', 'silent', 'ahead'];

/** A gateway's data folder with an account and a live key. */
export type Installation = {
  readonly dataDir: string;
  readonly key: string;
  readonly start: (options?: Pick<ChildOptions, 'core' | 'nodeArguments'>) => Promise<Child>;
  /** Runs a `tollgate` command on the installation. Returns the JSON that it prints. */
  readonly run: (...words: string[]) => unknown;
  /** Verifies the books and removes the folder. Throws when a row disagrees. */
  readonly remove: () => void;
};

export type GatewayOptions = {
  /** A new PostgreSQL database; the default is a SQLite file. */
  readonly databaseUrl?: string | undefined;
  /** What the gateway sends the upstream as its key. */
  readonly upstreamKey?: string;
  /** Another checkout, whose newest build runs; the default is this one. */
  readonly checkout?: string | undefined;
  /** HTTP threads; the default is one. */
  readonly threads?: number | 'auto';
};

export function installGateway(
  upstreamPort: number,
  { databaseUrl, upstreamKey = 'bench', checkout = root, threads = 1 }: GatewayOptions = {},
): Installation {
  const entry = join(checkout, 'dist', 'current', 'main.js');
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const configPath = join(dataDir, 'tollgate.yaml');
  writeFileSync(
    configPath,
    JSON.stringify({
      ...configFor(`http://127.0.0.1:${upstreamPort}`, upstreamKey),
      server: { threads },
      metrics: { token: metricsToken },
    }),
  );
  const env = {
    PATH: process.env['PATH'],
    PORT: '0',
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_CONFIG: configPath,
    ...(databaseUrl !== undefined && {
      DATABASE_URL: databaseUrl,
      TOLLGATE_SECRET: randomBytes(32).toString('hex'),
    }),
  };
  const run = (...words: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [entry, ...words, '--json'], {
        cwd: checkout,
        env,
        encoding: 'utf8',
      }),
    ) as Record<string, string>;
  const account = run('accounts', 'create', '--name', 'Bench', '--credit-usd', '1000000').id!;
  return {
    dataDir,
    run,
    key: run('keys', 'create', '--account', account, '--mode', 'live').key!,
    start: (options = { core: 'contestant' }) =>
      startChild({
        script: entry,
        scriptArguments: ['serve'],
        env,
        ...options,
        portPattern: /listens on http:\S+:(\d+)/,
      }),
    remove: () => {
      run('verify');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Configures one provider and one model per upstream script, for both kinds of provider. */
function configFor(upstream: string, upstreamKey: string): object {
  const openai = (play: Play) => ({
    kind: 'openai',
    base_url: `${upstream}/${play}/v1`,
    api_key: upstreamKey,
  });
  const anthropic = (play: Play) => ({
    kind: 'anthropic',
    base_url: `${upstream}/${play}`,
    api_key: upstreamKey,
  });
  return {
    limits: { requests_per_minute: null },
    providers: Object.fromEntries(
      plays.flatMap((play) => [
        [`${play}-openai`, openai(play)],
        [`${play}-anthropic`, anthropic(play)],
      ]),
    ),
    models: Object.fromEntries(
      plays.flatMap((play) => [
        [modelFor(play, 'chat'), modelOn(`${play}-openai`)],
        [modelFor(play, 'messages'), modelOn(`${play}-anthropic`)],
      ]),
    ),
  };
}

function modelOn(provider: string): object {
  return {
    routes: [{ provider, model: 'upstream-model' }],
    prices: { input: 1.25, output: 10, cache_write: 1.25, cache_read: 0.125 },
  };
}
