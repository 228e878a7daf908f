// The command line: every command on one screen. Each takes --json; what it prints then is a contract (README, "Command line").
import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { ConfigError } from '../config/config-error.ts';
import { DatabaseUnusable } from '../db/database-error.ts';
import { LedgerUnavailable } from '../ledger/batcher.ts';
import { prepareWorker } from '../ledger/worker-runner.ts';
import { CommandFailed } from './output.ts';
import {
  parseAddressRanges,
  parseCount,
  parseDay,
  parseExpiry,
  parseFactor,
  parseFactorOrNone,
  parseModelList,
  parseName,
  parseUsd,
  parseUsdCap,
} from './parse.ts';

export async function runCommandLine(argv: readonly string[]): Promise<void> {
  try {
    await buildProgram().parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) process.exit(error.exitCode);
    console.error(isForPeople(error) ? `tollgate: ${error.message}` : error);
    // Not `exitCode`: a start that failed half-way has threads and sockets open.
    process.exit(1);
  }
}

/** Errors whose message says what to do; any other is a bug, and shows where it came from. A file or folder that cannot be used is the former. */
function isForPeople(error: unknown): error is Error {
  return (
    error instanceof CommandFailed ||
    error instanceof ConfigError ||
    error instanceof DatabaseUnusable ||
    error instanceof LedgerUnavailable ||
    (error instanceof Error && 'syscall' in error && 'path' in error)
  );
}

// A command's code is loaded when it is run: what the others need would cost each of them some tenths of a second.
const accountsCommands = () => import('./accounts.ts');
const keysCommands = () => import('./keys.ts');
const usersCommands = () => import('./users.ts');
const modelsCommands = () => import('./models.ts');
const upkeepCommands = () => import('./upkeep.ts');
const reportCommands = () => import('./report.ts');
const secretCommands = () => import('./secret.ts');

/** The ledger's thread loads its code while this one loads the server. */
async function serve(): Promise<void> {
  const ledgerWorker = prepareWorker();
  const { serveCommand } = await import('./serve.ts');
  await serveCommand(ledgerWorker);
}

function buildProgram(): Command {
  const program = new Command('tollgate')
    .description('A paid HTTP gateway for language models.')
    .version(packageJson.version)
    .exitOverride()
    .showHelpAfterError('(run with --help for the options)');

  program.command('serve').description('start the gateway').action(serve);
  json(program.command('migrate').description('bring the database up to date')).action(async (options) =>
    (await upkeepCommands()).migrateCommand(options),
  );
  json(program.command('verify').description('prove the books: recompute every balance, hold and cap')).action(async (options) =>
    (await upkeepCommands()).verifyCommand(options),
  );
  json(program.command('backup').description('copy the database while it is in use').argument('<file>')).action(
    async (file, options) => (await import('./backup.ts')).backupCommand(file, options),
  );
  const report = program.command('report').description('revenue, cost, losses and margin');
  json(report)
    .addOption(
      report.createOption('--by <group>', 'what to add up by').choices(['day', 'account', 'key', 'model']).default('day'),
    )
    .addOption(report.createOption('--mode <mode>', 'live or test').choices(['live', 'test']).default('live'))
    .option('--from <date>', 'the first UTC day, 2026-11-01', parseDay, 0)
    .option('--to <date>', 'the day after the last', parseDay, Date.UTC(9999, 0))
    .action(async (options) => (await reportCommands()).reportCommand(options));

  const accounts = program.command('accounts').description('accounts and their balances');
  requestLimits(json(accounts.command('create').description('make an account')))
    .requiredOption('--name <name>', 'what to call it', parseName)
    .option('--credit-usd <amount>', 'put this much on its live balance', parseUsd)
    .option('--price-multiplier <factor>', 'its prices, times the list prices: 0.9 is a tenth off', parseFactor)
    .action(async (options) => (await accountsCommands()).createAccountCommand(options));
  json(accounts.command('list').description('all accounts')).action(async (options) =>
    (await accountsCommands()).listAccountsCommand(options),
  );
  requestLimits(
    json(accounts.command('update').description("change an account's prices, limits or standing").argument('<account>')),
  )
    .option(
      '--price-multiplier <factor>',
      'its prices, times the list prices; "none" clears that of a --model',
      parseFactorOrNone,
    )
    .option('--model <id>', 'for this model alone')
    .addOption(accounts.createOption('--frozen <yes|no>', 'whether it may spend').choices(['yes', 'no']))
    .addOption(
      accounts
        .createOption('--retain-responses <on|off>', 'whether its answers are kept, cached or for replay; off erases them')
        .choices(['on', 'off']),
    )
    .option('--forgive-losses', 'the losses that it has provoked no longer count against its loss budget')
    .action(async (id, options) => (await accountsCommands()).updateAccountCommand(id, options));
  json(accounts.command('purge').description('erase the answers kept of an account').argument('<account>')).action(
    async (id, options) => (await accountsCommands()).purgeAccountCommand(id, options),
  );
  adjustment(json(accounts.command('credit').description('add to a balance'))).action(async (id, options) =>
    (await accountsCommands()).creditAccountCommand(id, options),
  );
  adjustment(json(accounts.command('debit').description('take from a balance, below zero if need be'))).action(
    async (id, options) => (await accountsCommands()).debitAccountCommand(id, options),
  );

  const keys = program.command('keys').description('API keys and their limits');
  limits(json(keys.command('create').description('make a key; it is shown once')))
    .requiredOption('--account <id>', 'whose key')
    .addOption(keys.createOption('--mode <mode>', 'live or test').choices(['live', 'test']).makeOptionMandatory())
    .action(async (options) => (await keysCommands()).createKeyCommand(options));
  json(keys.command('list').description('all keys'))
    .option('--account <id>', "one account's only")
    .action(async (options) => (await keysCommands()).listKeysCommand(options));
  limits(json(keys.command('update').description("change a key's limits").argument('<key id>'))).action(async (id, options) =>
    (await keysCommands()).updateKeyCommand(id, options),
  );
  json(keys.command('disable').description('switch a key off until it is enabled again').argument('<key id>')).action(
    async (id, options) => (await keysCommands()).disableKeyCommand(id, options),
  );
  json(keys.command('enable').description('switch a disabled key on again').argument('<key id>')).action(async (id, options) =>
    (await keysCommands()).enableKeyCommand(id, options),
  );
  json(keys.command('revoke').description('end a key for good').argument('<key id>')).action(async (id, options) =>
    (await keysCommands()).revokeKeyCommand(id, options),
  );

  const users = program.command('users').description('the people who use the dashboard');
  json(users.command('list').description('all users')).action(async (options) =>
    (await usersCommands()).listUsersCommand(options),
  );
  json(users.command('create-link').description('a one-time link that lets somebody in').argument('<e-mail>'))
    .option('--account <id>', 'into this account; left out: into a new one')
    .addOption(users.createOption('--role <role>', 'as what').choices(['owner', 'admin', 'member']).default('owner'))
    .action(async (email, options) => (await usersCommands()).createLinkCommand(email, options));
  json(users.command('reset-password').description('a one-time link to choose a new password').argument('<e-mail>'))
    .option('--remove-second-factor', 'for who has lost phone and backup codes')
    .action(async (email, options) => (await usersCommands()).resetPasswordCommand(email, options));
  json(users.command('first-run-link').description('a one-time link that makes the first user')).action(async (options) =>
    (await usersCommands()).firstRunLinkCommand(options),
  );

  const secret = program.command('secret').description("the installation's secret, and how it is replaced");
  json(secret.command('status').description('which secrets there are, and what needs those before the current one')).action(
    async (options) => (await secretCommands()).secretStatusCommand(options),
  );
  json(secret.command('rotate').description('make a new secret; the one before is accepted beside it')).action(async (options) =>
    (await secretCommands()).rotateSecretCommand(options),
  );
  json(secret.command('retire').description('end all secrets but the current one'))
    .option('--force', 'also when something needs them, which stops to work')
    .action(async (options) => (await secretCommands()).retireSecretCommand(options));

  const models = program.command('models').description('the catalogue');
  json(models.command('list').description('all models, with prices and whether they are live')).action(async (options) =>
    (await modelsCommands()).listModelsCommand(options),
  );
  json(models.command('check').description('models without a price or a route')).action(async (options) =>
    (await modelsCommands()).checkModelsCommand(options),
  );
  return program;
}

function json(command: Command): Command {
  return command.option('--json', 'print JSON');
}

function adjustment(command: Command): Command {
  return command
    .argument('<account>')
    .requiredOption('--usd <amount>', 'how much', parseUsd)
    .option('--test', 'the test ledger instead of the live one')
    .option('--note <text>', 'kept with the entry', parseName);
}

/** `none` clears a limit; a cap of 0 allows nothing. */
function limits(command: Command): Command {
  return requestLimits(command)
    .option('--name <name>', 'what to call it', parseName)
    .option('--daily-cap-usd <amount>', 'spend a day at most, UTC; "none" for no cap', parseUsdCap)
    .option('--monthly-cap-usd <amount>', 'spend a month at most, UTC; "none" for no cap', parseUsdCap)
    .option('--models <list>', 'allowed models, by comma; "none" for all', parseModelList)
    .option('--expires <time>', 'works until then: a UTC day, or a time like 2027-01-31T18:00:00Z; "none" for ever', parseExpiry);
}

/** Of a key, or of all keys of an account together. */
function requestLimits(command: Command): Command {
  return command
    .option('--rpm <count>', 'requests a minute; "none" for the configured default', parseCount)
    .option('--tpm <count>', 'tokens a minute; "none" for the configured default', parseCount)
    .option('--concurrency <count>', 'requests at once; "none" for the configured default', parseCount)
    .option('--allow <list>', 'addresses and CIDR ranges it may be used from, by comma; "none" for all', parseAddressRanges);
}
