// `tollgate serve`: starts the gateway, prints how to use it, and stops it on a signal.
import type { Worker } from 'node:worker_threads';
import { startApp, type App } from '../app.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { loadSecrets } from '../config/secret.ts';
import { explainDatabaseError, isPostgresUrl, sqlitePathOf } from '../db/database.ts';
import { claimServing } from '../db/sqlite-serving.ts';
import { openLog } from './log.ts';
import { CommandFailed } from './output.ts';
import { systemClock } from '../lib/clock.ts';

/** `ledgerWorker`: started early, because it loads as slowly as some of this file's imports. */
export async function serveCommand(ledgerWorker: Worker): Promise<void> {
  const config = loadConfig({ env: process.env, cwd: process.cwd() });
  const secrets = loadSecrets(process.env, config.dataDir, {
    isShared: isPostgresUrl(config.database.url),
  });
  const release = isPostgresUrl(config.database.url)
    ? () => {}
    : claimServing(sqlitePathOf(config.database.url));
  const { log, flush } = openLog(config.log.level);
  const onLedgerFailure = (err: Error) => {
    log.error({ err }, 'the ledger can no longer be written; the process ends');
    flush();
    process.exit(1);
  };
  const app = await startApp({
    config,
    secrets,
    log,
    onLedgerFailure,
    ledgerWorker,
    clock: systemClock,
  }).catch((error: unknown) => {
    throw explainStart(error, config);
  });
  // Set up before anything is printed: a script that waits for the address may send a signal as
  // soon as it reads it.
  stopOnSignal(app, { log, flush, release });
  for (const warning of [...config.warnings, ...app.gateway.catalog.warnings])
    log.warn({}, warning);
  console.log(welcome(app, config));
  log.info({ url: app.url, providers: switchedOn(config) }, 'listening');
}

/**
 * Ctrl-C reaches every process of the group, and npm and the `tollgate` command forward it as well.
 * Signals within this time count as one.
 */
const sameSignalMs = 1_000;

/**
 * The first signal drains; a later one exits at once. An uncaught error is logged and ends the
 * process, because its state cannot be trusted.
 */
function stopOnSignal(
  app: App,
  { log, flush, release }: ReturnType<typeof openLog> & { readonly release: () => void },
): void {
  let stoppingSinceMs: number | null = null;
  const stop = (signal: string) => {
    const nowMs = systemClock.elapsedMs();
    if (stoppingSinceMs !== null) {
      if (nowMs - stoppingSinceMs >= sameSignalMs) process.exit(1);
      return;
    }
    stoppingSinceMs = nowMs;
    log.info({ signal, running: app.gateway.runs.count }, 'stopping');
    void app.stop().then(() => {
      release();
      log.info({}, 'stopped');
      flush();
      process.exit(0);
    });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  const die = (err: unknown) => {
    log.error({ err }, 'uncaught error; the process ends');
    flush();
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}

function explainStart(error: unknown, { server, database }: Config): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error))
    return explainDatabaseError(error, database.url);
  if (error.code === 'EADDRINUSE') {
    return new CommandFailed(
      `port ${server.port} on ${server.host} is already in use. Stop the program that listens there, or set PORT to another port.`,
    );
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'EACCES' || error.code === 'ENOTFOUND') {
    return new CommandFailed(
      `cannot listen on ${server.host}:${server.port} (${error.code}). Set HOST and PORT to an address of this machine.`,
    );
  }
  return error;
}

function welcome(app: App, config: Config): string {
  const { account, linkToken } = app.firstStart;
  return [
    '',
    `Tollgate listens on ${app.url}`,
    '',
    ...dashboardLines(app.publicUrl, linkToken),
    ...(account.testKey === null
      ? laterStart(account.id)
      : firstStart(app.url, account.testKey, exampleModel(app))),
    ...providerLines(app, config),
    ...(config.test_mode.enabled
      ? [
          'Test keys are answered by the built-in sandbox with play money; docs/test-mode.md lists what it can do.',
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

function providerLines({ gateway }: App, config: Config): string[] {
  const names = switchedOn(config);
  const runsModels = gateway.providers.byName.size + gateway.providers.images.size > 0;
  const remedy =
    'live keys have no models. Set a key such as OPENAI_API_KEY or ANTHROPIC_API_KEY and start again.';
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

function exampleModel({ gateway }: App): string {
  return gateway.catalog.resolve('gpt-5-mini')?.id ?? gateway.catalog.list()[0]!.id;
}
