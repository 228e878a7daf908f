// A gateway with a local upstream behind its live providers, and keys for it.
//
//   const gateway = await startGateway({ models: { … } });
//   const { key, account } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
//   const reply = await gateway.post('/v1/responses', { key, body });
//   await gateway.stop();   // stops both and verifies the books
import assert from 'node:assert/strict';
import { adminScopes } from '../../src/terms/admin-scope.ts';
import { loadSecrets } from '../../src/config/secret.ts';
import { openDatabase, type Database } from '../../src/db/database.ts';
import { type AdminKeyOrder, insertAdminKey } from '../../src/domain/keys/admin-keys.ts';
import { digestKeyFrom } from '../../src/domain/keys/key-text.ts';
import { insertKey, type KeyControls } from '../../src/domain/keys/manage-keys.ts';
import { ledgerIdOf } from '../../src/domain/ledger/commands.ts';
import { openLedgerInProcess } from '../../src/domain/ledger/open-ledger.ts';
import { readBalance, type Balance } from '../../src/domain/ledger/reports/queries.ts';
import { newIdWithPrefix } from '../../src/lib/ids.ts';
import { microsFromUsd, zeroMicros } from '../../src/lib/money.ts';
import { openAccount } from '../../src/management/changes/accounts.ts';
import { answerContent, type Content } from './answers.ts';
import type { Endpoint } from './endpoints.ts';
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
};

/**
 * Merged into a configuration with four live providers, `openai`, `anthropic`, `google` and
 * `local`, which all lead to the local upstream. Retries are off, so that tests see the result of a
 * single call; tests of retries turn them on.
 */
export type GatewayConfig = Fields | ((upstream: LocalUpstream) => Fields);

/** Starts a gateway in this process. `databaseUrl`: PostgreSQL, for replicas. */
export async function startGateway(
  config: GatewayConfig = {},
  options: Omit<RunningAppOptions, 'config'> = {},
): Promise<TestGateway<RunningApp>> {
  return startBehind(config, (whole) => startRunningApp({ ...options, config: whole }));
}

/** Starts a gateway as a separate process, for tests that end it, measure it or read its output. */
export async function startGatewayProgram(
  config: GatewayConfig = {},
  options: Omit<ProgramOptions, 'config'> = {},
): Promise<TestGateway<Program>> {
  return startBehind(config, (whole) => startProgram({ ...options, config: whole }));
}

async function startBehind<Started extends Installation>(
  config: GatewayConfig,
  start: (config: InstallationOptions['config']) => Promise<Started>,
): Promise<TestGateway<Started>> {
  const upstream = await startUpstream();
  const { providers, limits, retries, ...rest } =
    typeof config === 'function' ? config(upstream) : config;
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
      ...rest,
    });
    return new TestGateway(program, upstream);
  } catch (error) {
    // If left open, it keeps the test's process from ending.
    await upstream.close();
    throw error;
  }
}

export type KeyOptions = KeyControls & {
  /** Default: `live` with a credit, which is of the live ledger, `test` without one. */
  readonly mode?: 'live' | 'test';
  /** The account of an earlier key; by default a new one is made. */
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

  /** Posts the endpoint's short request with these fields. */
  ask(
    { path, body }: Pick<Endpoint, 'path' | 'body'>,
    key: string,
    fields: object = {},
  ): Promise<Reply> {
    return this.post(path, { key, body: body(fields) });
  }

  /** Plays the content from now on, where the endpoint's provider is called. */
  answer({ name, upstreamPath }: Pick<Endpoint, 'name' | 'upstreamPath'>, content: Content): void {
    this.upstream.on(upstreamPath, answerContent(name, content));
  }

  /** Sends a POST. The test reads the answer itself, or disconnects. */
  open(path: string, options: SendOptions): ReturnType<typeof open> {
    return open(this.url + path, { method: 'POST', ...options });
  }

  /** Sends by `ask`; `asked` are the requests that reached the upstream meanwhile. */
  async recordUpstream(ask: () => Promise<Reply>) {
    const earlier = this.upstream.requests.length;
    const reply = await ask();
    return { reply, asked: this.upstream.requests.slice(earlier) };
  }

  /** Posts; `asked` are the requests that reached the upstream meanwhile. */
  postRecorded(path: string, options: SendOptions) {
    return this.recordUpstream(() => this.post(path, options));
  }

  /** The key's usage records, newest first; with `requestId`, those of one request. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the shape of JSON is the caller's claim in any case
  async usage<Item = Record<string, unknown>>(key: string, requestId?: string): Promise<Item[]> {
    const query = requestId === undefined ? '' : `?request_id=${requestId}`;
    return (await this.get(`/v1/usage${query}`, { key })).json<{ data: Item[] }>().data;
  }

  /** The operator's losses by a request's calls, in microdollars. */
  async lossesOf(requestId: string): Promise<number[]> {
    const entries = await this.database.read
      .selectFrom('entries')
      .select('loss_micros')
      .where('id', 'like', `${requestId}%`)
      .where('loss_micros', '>', zeroMicros)
      .execute();
    return entries.map((entry) => Number(entry.loss_micros));
  }

  /** Makes a key as the command line does, but in this process: a command takes up to a second. */
  async makeKey({ account, creditUsd, ...rest }: KeyOptions = {}) {
    const { mode = creditUsd === undefined ? 'test' : 'live', ...controls } = rest;
    const nowMs = this.program.clock.nowMs();
    const accountId =
      account ?? (await openAccount(this.database.write, { name: 'Test' }, nowMs)).id;
    if (creditUsd !== undefined) await this.creditAccount(accountId, creditUsd);
    const digestKey = digestKeyFrom(
      loadSecrets(this.program.env, this.program.dataDir, { isShared: false })[0],
    );
    const made = await insertKey(
      this.database.write,
      digestKey,
      { accountId, mode, ...controls },
      nowMs,
    );
    return { ...made!, account: accountId };
  }

  /** Makes an admin key. Default: with all scopes. */
  async makeAdminKey(order: Partial<AdminKeyOrder> = {}) {
    const whole = { name: 'A shop', scopes: adminScopes, ...order };
    const { key, listing } = await insertAdminKey(
      this.database.write,
      whole,
      this.program.clock.nowMs(),
    );
    return { key, ...listing };
  }

  /** Books a loss that the key's account provoked. Only for a gateway in this process. */
  async provokeLoss(
    { id, account }: { readonly id: string; readonly account: string },
    usd: number,
  ): Promise<void> {
    const program: Installation = this.program;
    assert.ok(program instanceof RunningApp);
    const { ledger, owner } = program.app.gateway.books;
    const hold = {
      holdId: newIdWithPrefix('req'),
      ledgerId: ledgerIdOf(account, 'live'),
      keyId: id,
    } as const;
    const nothing = { amountMicros: zeroMicros, dailyCapMicros: null, monthlyCapMicros: null };
    await ledger.submit({ type: 'reserve', ...hold, ...nothing, owner });
    await ledger.submit({
      type: 'release',
      holdId: hold.holdId,
      lossMicros: microsFromUsd(usd),
      isCausedByAccount: true,
    });
  }

  /** The exact balance; the API shows whole cents only. */
  async balance(account: string, mode: 'live' | 'test' = 'live'): Promise<Balance> {
    return (await readBalance(this.database.read, ledgerIdOf(account, mode)))!;
  }

  /** Asserts that this much is left of the live balance, and that nothing is held. */
  async assertLeft(account: string, leftMicros: number, where?: string): Promise<void> {
    const { availableMicros, heldMicros } = await this.balance(account);
    assert.deepEqual([availableMicros, heldMicros], [leftMicros, 0], where);
  }

  /** Stops the gateway, verifies its books, and stops the upstream. */
  async stop(): Promise<void> {
    await this.database.close();
    try {
      await this.program.stop();
    } finally {
      await this.upstream.close();
    }
  }

  async creditAccount(accountId: string, usd: number): Promise<void> {
    const program: Installation = this.program;
    const isHere = program instanceof RunningApp;
    const ledger = isHere
      ? program.app.gateway.books.ledger
      : await openLedgerInProcess(this.database.url);
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
