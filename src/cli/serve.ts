// `tollgate serve`: starts the gateway, prints how to use it, and stops it on a signal.
import { availableParallelism } from 'node:os';
import { isatty } from 'node:tty';
import type { Worker } from 'node:worker_threads';
import type { App } from '../app.ts';
import type { ThreadsOptions } from '../threads/start-threads.ts';
import { isChatKind, isImageKind } from '../terms/provider-kind.ts';
import { openConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { loadSecrets } from '../config/secret.ts';
import { isPostgresUrl, sqlitePathOf } from '../db/database.ts';
import { claimServing } from '../db/sqlite/serving.ts';
import { type Log, openLog } from '../lib/json-log.ts';
import { systemClock } from '../lib/clock.ts';
import { collectAfterStart } from '../lib/collect-garbage.ts';
import { explainStart } from './explain-start.ts';

/** `ledgerWorker`: started early, because it loads as slowly as some of this file's imports. */
export async function serveCommand(ledgerWorker: Worker): Promise<void> {
  const reader = openConfig({ env: process.env, cwd: process.cwd() });
  const config = reader.withSaved({});
  const threads = threadsOf(config.server);
  const start = await loadStart(threads);
  const secrets = loadSecrets(process.env, config.dataDir, {
    isShared: isPostgresUrl(config.database.url),
  });
  const release = isPostgresUrl(config.database.url)
    ? () => {}
    : claimServing(sqlitePathOf(config.database.url));
  const { log, flush, output } = openLog(config.log.level);
  let app: App | null = null;
  const die = async (error: unknown, message: string) => {
    log.error({ err: error }, message);
    await app?.flushLogs();
    flush();
    process.exit(1);
  };
  const dieOf = (message: string) => (error: unknown) => void die(error, message);
  const options = {
    config,
    reader,
    secrets,
    log,
    onLedgerFailure: dieOf('the ledger can no longer be written; the process ends'),
    ledgerWorker,
    clock: systemClock,
  };
  const onThreadFailure = dieOf('uncaught error in an HTTP thread; the process ends');
  app = await start({ ...options, output, onThreadFailure }).catch((error: unknown) => {
    throw explainStart(error, config);
  });
  // Set up before anything is printed: a script that waits for the address may send a signal as
  // soon as it reads it.
  stopOnSignal(app, { log, flush, release, die: dieOf('uncaught error; the process ends') });
  for (const warning of [...app.config.warnings, ...app.catalog.warnings]) log.warn({}, warning);
  console.log(welcome(app));
  log.info({ url: app.url, threads, providers: switchedOn(app.config) }, 'listening');
  collectAfterStart();
}

/**
 * Loads what serves with so many HTTP threads, and prepares them. The code that answers requests is
 * large, so a thread that answers none must not load it.
 */
async function loadStart(threads: number): Promise<(options: ThreadsOptions) => Promise<App>> {
  if (threads === 1) return (await import('../app.ts')).startApp;
  const { prepareThreads, startThreads } = await import('../threads/start-threads.ts');
  const workers = prepareThreads(threads);
  return (options) => startThreads(workers, options);
}

/** More are rarely needed, and each takes memory and connections to the database. */
const autoThreadsMax = 8;

/** Only Linux shares the load between sockets on one port, of those systems that we test. */
function threadsOf({ threads }: Config['server']): number {
  if (threads !== 'auto') return threads;
  return process.platform === 'linux' ? Math.min(availableParallelism(), autoThreadsMax) : 1;
}

/**
 * Ctrl-C reaches every process of the group, and npm and the `tollgate` command forward it as well.
 * Signals within this time count as one.
 */
const sameSignalMs = 1_000;

type Stopping = Log & { readonly release: () => void; readonly die: (error: unknown) => void };

/**
 * The first signal drains; a later one exits at once. An uncaught error is logged and ends the
 * process, because its state cannot be trusted.
 */
function stopOnSignal(app: App, { log, flush, release, die }: Stopping): void {
  let stoppingSinceMs: number | null = null;
  const stop = (signal: string) => {
    const nowMs = systemClock.elapsedMs();
    if (stoppingSinceMs !== null) {
      if (nowMs - stoppingSinceMs >= sameSignalMs) process.exit(1);
      return;
    }
    stoppingSinceMs = nowMs;
    void app.countRunning().then((running) => log.info({ signal, running }, 'stopping'));
    void app.stop().then(() => {
      release();
      log.info({}, 'stopped');
      flush();
      process.exit(0);
    });
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  // A service is told to read its file again; a closed terminal ends what ran in it.
  const isInTerminal = [0, 1, 2].some((stream) => isatty(stream));
  process.on('SIGHUP', (signal) => (isInTerminal ? stop(signal) : void app.reread()));
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}

function welcome(app: App): string {
  const { config, firstStart: made } = app;
  const { account, linkToken } = made;
  const url = config.server.public_url ?? app.url;
  return [
    '',
    `Tollgate listens on ${app.url}`,
    '',
    ...dashboardLines(url, linkToken),
    `Documentation: ${url}/docs`,
    '',
    ...(account.testKey === null
      ? laterStart(account.id)
      : firstStart(app.url, account.testKey, exampleModel(app))),
    ...providerLines(config),
    ...(config.test_mode.enabled
      ? [
          `Test keys are answered by the built-in sandbox with play money; ${url}/docs/test-mode lists what it can do.`,
        ]
      : []),
    '',
  ].join('\n');
}

/** The link makes its user an operator. It is shown until the first user exists. */
function dashboardLines(url: string, linkToken: string | null): string[] {
  if (linkToken === null) return [`Dashboard: ${url}`, ''];
  return [
    'Open the dashboard and become its first user (the link works once, within 24 hours):',
    `${url}/first-run?token=${linkToken}`,
    '',
  ];
}

/** Returns what the welcome says of the providers that are switched on. */
export function providerLines(config: Config): string[] {
  const names = switchedOn(config);
  const runsModels = names.some((name) => {
    const { kind } = config.providers[name]!;
    return isChatKind(kind) || isImageKind(kind);
  });
  const remedy =
    'live keys have no models. Add a provider in the dashboard, or set its key (such as OPENAI_API_KEY) and start again.';
  if (names.length === 0) return [`No provider is switched on yet: ${remedy}`];
  return [
    `Providers switched on: ${names.join(', ')}.`,
    ...(runsModels ? [] : [`None of them runs models: ${remedy}`]),
  ];
}

/** Enabled providers of all kinds: chat, images and search. */
function switchedOn({ providers }: Config): string[] {
  return Object.keys(providers).filter((name) => providers[name]!.enabled);
}

function firstStart(url: string, testKey: string, model: string): string[] {
  return [
    `Your test key, shown only once: ${testKey}`,
    '',
    'Try it:',
    `curl ${url}/v1/chat/completions -H "Authorization: Bearer ${testKey}" -H "Content-Type: application/json" ` +
      `-d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'`,
    '',
  ];
}

function laterStart(accountId: string): string[] {
  return [
    `Keys are shown only when they are created. Create another: npx tollgate keys create --account ${accountId} --mode test`,
    '',
  ];
}

function exampleModel({ catalog }: App): string {
  return (
    catalog.resolve('gpt-6-luna')?.id ?? catalog.list().find(({ type }) => type === 'chat')!.id
  );
}
