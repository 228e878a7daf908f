// A gateway with a local upstream behind its live providers, and keys for it.
//
//   const gateway = await startGateway({ models: { … } });
//   const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
//   const reply = await gateway.post('/v1/responses', { key, body });
//   await gateway.stop();   // ends both and proves the books
import assert from 'node:assert/strict';
import { createAccount } from '../../src/accounts/manage-accounts.ts';
import { loadSecrets } from '../../src/config/secret.ts';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { digestKeyFrom } from '../../src/keys/key-text.ts';
import { createKey, type KeyControls } from '../../src/keys/manage-keys.ts';
import { ledgerIdOf } from '../../src/ledger/commands.ts';
import { createLedgers } from '../../src/ledger/create-ledgers.ts';
import { openLedgerInProcess } from '../../src/ledger/open-ledger.ts';
import { readBalance, type Balance } from '../../src/ledger/queries.ts';
import { newIdWithPrefix } from '../../src/lib/ids.ts';
import { microsFromUsd, zeroMicros } from '../../src/lib/money.ts';
import { open, send, type Reply, type SendOptions } from './http.ts';
import type { Installation, InstallationOptions } from './installation.ts';
import { startProgram, type Program, type ProgramOptions } from './program.ts';
import { RunningApp, startRunningApp, type RunningAppOptions } from './running-app.ts';
import { startUpstream, type LocalUpstream } from './upstream.ts';

export const upstreamKey = 'sk-upstream-secret-000111222333';
export const metricsToken = 'metrics-token-of-the-test';

type Fields = Readonly<Record<string, unknown>> & {
  readonly providers?: object;
  readonly limits?: object;
  readonly retries?: object;
  readonly overload?: object;
};

/**
 * On top of four live providers, `openai`, `anthropic`, `google` and `local`, which are the local upstream. What one call becomes shows
 * without retries, so a test that is about them asks for some.
 */
export type GatewayConfig = Fields | ((upstream: LocalUpstream) => Fields);

/** Starts a gateway in this process. `databaseUrl`: PostgreSQL, for replicas. */
export async function startGateway(
  config: GatewayConfig = {},
  options: Omit<RunningAppOptions, 'config'> = {},
): Promise<TestGateway<RunningApp>> {
  // The test's own work holds the event loop up: that is no overload of the gateway.
  return startBehind(config, { overload: { lag_ms: null } }, (whole) => startRunningApp({ ...options, config: whole }));
}

/** Starts a gateway as a process of its own, for tests that end it, measure it or read what it prints. */
export async function startGatewayProgram(
  config: GatewayConfig = {},
  options: Omit<ProgramOptions, 'config'> = {},
): Promise<TestGateway<Program>> {
  return startBehind(config, {}, (whole) => startProgram({ ...options, config: whole }));
}

async function startBehind<Started extends Installation>(
  config: GatewayConfig,
  base: Fields,
  start: (config: InstallationOptions['config']) => Promise<Started>,
): Promise<TestGateway<Started>> {
  const upstream = await startUpstream();
  const { providers, limits, retries, overload, ...rest } = typeof config === 'function' ? config(upstream) : config;
  try {
    const program = await start({
      providers: {
        openai: { kind: 'openai', base_url: `${upstream.url}/v1`, api_key: upstreamKey },
        anthropic: { kind: 'anthropic', base_url: upstream.url, api_key: upstreamKey },
        google: { kind: 'google', base_url: upstream.url, api_key: upstreamKey },
        local: { kind: 'openai-compatible', base_url: `${upstream.url}/local/v1`, api_key: 'none' },
        ...providers,
      },
      limits: { requests_per_minute: null, ...limits },
      retries: { max_attempts: 1, ...retries },
      overload: { ...base.overload, ...overload },
      ...rest,
    });
    return new TestGateway(program, upstream);
  } catch (error) {
    // Left open, it would keep the test's process from ending.
    await upstream.close();
    throw error;
  }
}

export type KeyOptions = KeyControls & {
  readonly mode?: 'live' | 'test';
  /** An account of an earlier key; else one of its own is made. */
  readonly account?: string;
  readonly creditUsd?: number;
};

export class TestGateway<Started extends Installation = Installation> {
  readonly program: Started;
  readonly upstream: LocalUpstream;
  readonly database: Database;

  constructor(program: Started, upstream: LocalUpstream) {
    this.program = program;
    this.upstream = upstream;
    this.database = openDatabase(program.databaseUrl);
  }

  get url(): string {
    return this.program.url;
  }

  get(path: string, options: SendOptions = {}): Promise<Reply> {
    return send(this.url + path, options);
  }

  post(path: string, options: SendOptions): Promise<Reply> {
    return send(this.url + path, { method: 'POST', ...options });
  }

  /** Sends a POST whose answer the test reads, or leaves, itself. */
  open(path: string, options: SendOptions): ReturnType<typeof open> {
    return open(this.url + path, { method: 'POST', ...options });
  }

  /** As the command line does it, in this process: a command takes up to a second, and tests need many keys. */
  async makeKey({ mode = 'test', account, creditUsd, ...controls }: KeyOptions = {}) {
    const nowMs = this.program.clock.nowMs();
    const accountId = account ?? (await createAccount(this.database, { name: 'Test' }, createLedgers, nowMs));
    if (creditUsd !== undefined) await this.#credit(accountId, creditUsd);
    const digestKey = digestKeyFrom(loadSecrets(this.program.env, this.program.dataDir, { isShared: false })[0]);
    const made = await createKey(this.database, digestKey, { accountId, mode, ...controls }, nowMs);
    return { ...made!, account: accountId };
  }

  /** Books a loss that the account of the key has provoked. Of a gateway in this process. */
  async provokeLoss({ id, account }: { readonly id: string; readonly account: string }, usd: number): Promise<void> {
    const program: Installation = this.program;
    assert.ok(program instanceof RunningApp);
    const { ledger, owner } = program.app.gateway;
    const hold = { holdId: newIdWithPrefix('req'), ledgerId: ledgerIdOf(account, 'live'), keyId: id } as const;
    const nothing = { amountMicros: zeroMicros, dailyCapMicros: null, monthlyCapMicros: null };
    await ledger.submit({ type: 'reserve', ...hold, ...nothing, owner });
    await ledger.submit({ type: 'release', holdId: hold.holdId, lossMicros: microsFromUsd(usd), isProvoked: true });
  }

  /** The exact balance, which the API shows in whole cents only. */
  async balance(account: string, mode: 'live' | 'test' = 'live'): Promise<Balance> {
    return (await readBalance(this.database.read, ledgerIdOf(account, mode)))!;
  }

  /** Ends the program, proves its books, and ends the upstream. */
  async stop(): Promise<void> {
    await this.database.close();
    try {
      await this.program.stop();
    } finally {
      await this.upstream.close();
    }
  }

  async #credit(accountId: string, usd: number): Promise<void> {
    const program: Installation = this.program;
    const isHere = program instanceof RunningApp;
    const ledger = isHere ? program.app.gateway.ledger : await openLedgerInProcess(this.database.url);
    try {
      await ledger.submit({
        type: 'credit',
        entryId: newIdWithPrefix('ent'),
        ledgerId: ledgerIdOf(accountId, 'live'),
        amountMicros: microsFromUsd(usd),
        note: 'test',
      });
    } finally {
      if (!isHere) await ledger.close();
    }
  }
}
