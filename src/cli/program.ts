// The command line: every command on one screen. All commands accept --json; its output is a
// contract (docs/command-line.md).
import { Command, CommanderError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { ApiError } from '../canonical/errors.ts';
import { keyScopes } from '../terms/key-scope.ts';
import { modes } from '../terms/mode.ts';
import { ConfigError } from '../config/config-error.ts';
import { DatabaseUnusable, MigrationFailed } from '../db/database-error.ts';
import { LedgerUnavailable } from '../domain/ledger/batcher.ts';
import { prepareWorker } from '../domain/ledger/sqlite/worker-runner.ts';
import type { Needs } from './installation.ts';
import { CommandFailed, failureJson, type JsonOption, type Output, printOutput } from './output.ts';
import {
  parseAddressRanges,
  parseCount,
  parseDay,
  parseDays,
  parseExpiry,
  parseFactor,
  parseFactorOrNone,
  parseModelList,
  parseOverlap,
  parseName,
  parseKeyScopes,
  parseScopes,
  parseUsd,
  parseUsdCap,
  parseVersion,
} from './parse.ts';

export async function runCommandLine(argv: readonly string[]): Promise<void> {
  try {
    await buildProgram().parseAsync(argv);
  } catch (error) {
    if (argv.includes('--json')) printFailure(error);
    if (error instanceof CommanderError) process.exit(error.exitCode);
    console.error(isForPeople(error) ? `tollgate: ${error.message}` : error);
    // Not `exitCode`: a failed start may leave threads and sockets open.
    process.exit(1);
  }
}

/** Not for `--help`, which ends a command as an error does. */
function printFailure(error: unknown): void {
  if (error instanceof CommanderError && error.exitCode === 0) return;
  console.log(failureJson(error));
}

/**
 * True for errors whose message tells the user what to do, such as an unusable file. Any other
 * error is a bug and is printed with its stack.
 */
function isForPeople(error: unknown): error is Error {
  return (
    error instanceof CommandFailed ||
    error instanceof ApiError ||
    error instanceof ConfigError ||
    error instanceof DatabaseUnusable ||
    error instanceof MigrationFailed ||
    error instanceof LedgerUnavailable ||
    (error instanceof Error && 'syscall' in error && 'path' in error)
  );
}

// Each command's code is loaded when it runs. Loading all of it would slow every command by tenths
// of a second.
const accountsCommands = () => import('./accounts.ts');
const keysCommands = () => import('./keys.ts');
const adminKeysCommands = () => import('./admin-keys.ts');
const usersCommands = () => import('./users.ts');
const modelsCommands = () => import('./models.ts');
const modelsUpdate = () => import('./models-update.ts');
const upkeepCommands = () => import('./upkeep.ts');
const reportCommands = () => import('./report.ts');
const requestsCommands = () => import('./requests.ts');
const secretCommands = () => import('./secret.ts');
const settingsCommands = () => import('./settings.ts');
const importCommands = () => import('./import.ts');
const move = () => import('./move.ts');
const openapi = () => import('./openapi.ts');
const doctor = () => import('./doctor.ts');

/** The ledger's thread loads its code while this thread loads the server. */
async function serve(): Promise<void> {
  const ledgerWorker = prepareWorker();
  const { serveCommand } = await import('./serve.ts');
  await serveCommand(ledgerWorker);
}

export function buildProgram(): Command {
  const program = new Command('tollgate')
    .description('A paid HTTP gateway for language models.')
    .version(packageJson.version)
    .exitOverride()
    .showHelpAfterError('(run with --help for the options)');

  addMainCommands(program);
  addReportCommand(program);
  addRequestsCommands(program);
  addAccountsCommands(program);
  addKeysCommands(program);
  addAdminKeysCommands(program);
  addUsersCommands(program);
  addSecretCommands(program);
  addModelsCommands(program);
  addSettingsCommands(program);
  addImportCommands(program);
  return program;
}

function addMainCommands(program: Command): void {
  program.command('serve').description('start the gateway').action(serve);
  add(program, 'migrate', 'update the database schema').action(
    runAlone(upkeepCommands, 'migrateCommand'),
  );
  add(program, 'verify', 'check the books: recompute every balance, hold and cap')
    .option('--all', 'also read sealed days, and compare them with their seals', false)
    .action(runOnBooks(upkeepCommands, 'verifyCommand'));
  add(program, 'doctor', 'look for what is wrong with the installation, and say how to mend it')
    .option('--online', 'also ask the providers whether they accept their keys', false)
    .action(runAlone(doctor, 'doctorCommand'));
  add(program, 'backup', 'copy the database while it is in use', '[file]')
    .option('--done', 'only record a backup made with another tool, such as pg_dump', false)
    .action(runAlone(upkeepCommands, 'backupCommand'));
  add(program, 'move', 'copy the books to the other kind of database')
    .requiredOption('--to <url>', 'a new database: postgres://… or sqlite:FILE')
    .action(runAlone(move, 'moveCommand'));
  add(program, 'openapi', 'print the description of the API (OpenAPI 3.1)')
    .option('--dashboard', 'of the dashboard’s API')
    .action(async (options) => (await openapi()).openapiCommand(options));
}

function addReportCommand(program: Command): void {
  const report = program.command('report').description('revenue, cost, losses and margin');
  json(report)
    .addOption(
      new Option('--by <group>', 'group the sums by')
        .choices(['day', 'account', 'key', 'model', 'conversation'])
        .default('day'),
    )
    .addOption(new Option('--mode <mode>', 'live or test').choices(modes).default('live'))
    .addOption(
      new Option('--from <date>', 'the first UTC day, such as 2026-11-01')
        .argParser(parseDay)
        .default(0, 'the first charge'),
    )
    .addOption(
      new Option('--to <date>', 'the UTC day after the last')
        .argParser(parseDay)
        .default(Date.UTC(9999, 0), 'the last charge'),
    )
    .option('--prompt-cache', 'what was read from providers’ caches, what was not, and why')
    .action(runOnBooks(reportCommands, 'reportCommand'));
}

function addRequestsCommands(program: Command): void {
  const requests = program.command('requests').description('requests of all accounts');
  add(
    requests,
    'show',
    'what became of a request, what it cost, and why it failed',
    '<request id>',
  ).action(runOnBooks(requestsCommands, 'showRequestCommand'));
}

function addAccountsCommands(program: Command): void {
  const accounts = program.command('accounts').description('accounts and their balances');
  requestLimits(add(accounts, 'create', 'create an account'))
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--credit-usd <amount>', 'credit this amount to its live balance', parseUsd)
    .option(
      '--price-multiplier <factor>',
      'factor on list prices; 0.9 is 10 percent off',
      parseFactor,
    )
    .action(run(accountsCommands, 'createAccountCommand'));
  add(accounts, 'list', 'all accounts').action(run(accountsCommands, 'listAccountsCommand'));
  requestLimits(
    add(accounts, 'update', "change an account's prices, limits or status", '<account>'),
  )
    .option(
      '--price-multiplier <factor>',
      'factor on list prices; "none" clears the factor of a --model',
      parseFactorOrNone,
    )
    .option('--model <id>', 'only for this model')
    .addOption(
      new Option('--frozen <yes|no>', 'a frozen account cannot spend').choices(['yes', 'no']),
    )
    .addOption(
      new Option(
        '--retain-responses <on|off>',
        'keep its answers for the cache and for replay; "off" also erases them',
      ).choices(['on', 'off']),
    )
    .option('--forgive-losses', 'its losses until now no longer count against its loss budget')
    .action(run(accountsCommands, 'updateAccountCommand'));
  add(accounts, 'purge', 'erase the stored answers of an account', '<account>').action(
    run(accountsCommands, 'purgeAccountCommand'),
  );
  adjustment(add(accounts, 'credit', 'add to the balance of an account')).action(
    run(accountsCommands, 'adjustAccountCommand', 'credit'),
  );
  adjustment(
    add(accounts, 'debit', 'subtract from the balance of an account, even below zero'),
  ).action(run(accountsCommands, 'adjustAccountCommand', 'debit'));
}

function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('API keys and their limits');
  limits(add(keys, 'create', 'create a key; it is shown only once'))
    .requiredOption('--account <id>', 'the account that the key belongs to')
    .addOption(new Option('--mode <mode>', 'live or test').choices(modes).makeOptionMandatory())
    .action(run(keysCommands, 'createKeyCommand'));
  add(keys, 'list', 'all keys')
    .option('--account <id>', 'only the keys of this account')
    .action(run(keysCommands, 'listKeysCommand'));
  limits(add(keys, 'update', "change a key's limits", '<key id>')).action(
    run(keysCommands, 'updateKeyCommand'),
  );
  add(keys, 'rotate', 'give a key a new text; it is shown only once', '<key id>')
    .option(
      '--overlap <hours>',
      'hours for which the text before works too, at most 720; 0: it ends now',
      parseOverlap,
      24,
    )
    .action(run(keysCommands, 'rotateKeyCommand'));
  add(keys, 'disable', 'disable a key until it is enabled again', '<key id>').action(
    run(keysCommands, 'switchKeyCommand', 'disable'),
  );
  add(keys, 'enable', 'enable a disabled key', '<key id>').action(
    run(keysCommands, 'switchKeyCommand', 'enable'),
  );
  add(keys, 'revoke', 'revoke a key for good', '<key id>').action(
    run(keysCommands, 'switchKeyCommand', 'revoke'),
  );
}

function addAdminKeysCommands(program: Command): void {
  const keys = program.command('admin-keys').description('keys of the admin API');
  add(keys, 'create', 'create an admin key; it is shown only once')
    .requiredOption('--name <name>', 'its name', parseName)
    .requiredOption(
      '--scopes <list>',
      'what it may do, such as accounts:read,credits:write; "all" for everything',
      parseScopes,
    )
    .option(
      '--expires <time>',
      'expiry: a UTC day, or a time like 2030-01-31T18:00:00Z; "none" for never',
      parseExpiry,
    )
    .option(
      '--allow <list>',
      'allowed client addresses and CIDR ranges, separated by commas; "none" for all',
      parseAddressRanges,
    )
    .action(run(adminKeysCommands, 'createAdminKeyCommand'));
  add(keys, 'list', 'all admin keys').action(run(adminKeysCommands, 'listAdminKeysCommand'));
  add(keys, 'revoke', 'revoke an admin key for good', '<key id>').action(
    run(adminKeysCommands, 'revokeAdminKeyCommand'),
  );
}

function addUsersCommands(program: Command): void {
  const users = program.command('users').description('the people who use the dashboard');
  add(users, 'list', 'all users').action(run(usersCommands, 'listUsersCommand'));
  add(users, 'create-link', 'create a one-time link that invites a user', '<e-mail>')
    .option('--account <id>', 'invite to this account; default: a new account')
    .addOption(
      new Option('--role <role>', 'role in the account')
        .choices(['owner', 'admin', 'member', 'viewer'])
        .default('owner'),
    )
    .action(run(usersCommands, 'createLinkCommand'));
  add(users, 'reset-password', 'create a one-time link to choose a new password', '<e-mail>')
    .option('--remove-second-factor', 'also all passkeys: for a user who lost the devices')
    .action(run(usersCommands, 'resetPasswordCommand'));
  add(users, 'first-run-link', 'create a one-time link for the first user').action(
    run(usersCommands, 'firstRunLinkCommand'),
  );
}

function addSecretCommands(program: Command): void {
  const secret = program
    .command('secret')
    .description("the installation's secret and its replacement");
  add(secret, 'status', 'show the secrets, and what still needs the previous ones').action(
    runOnSecrets(secretCommands, 'secretStatusCommand'),
  );
  add(secret, 'rotate', 'create a new secret; the previous one is still accepted').action(
    runOnSecrets(secretCommands, 'rotateSecretCommand'),
  );
  add(secret, 'retire', 'remove all secrets but the current one')
    .option('--force', 'even if something still needs them and stops working')
    .action(runOnSecrets(secretCommands, 'retireSecretCommand'));
}

function addModelsCommands(program: Command): void {
  const models = program.command('models').description('the catalogue');
  add(models, 'list', 'all models with their prices and live routes').action(
    runAlone(modelsCommands, 'listModelsCommand'),
  );
  add(
    models,
    'check',
    'models without a price, a live route or a second source of the price',
  ).action(runAlone(modelsCommands, 'checkModelsCommand'));
  add(models, 'update', 'compare the catalogue with another price list; changes nothing')
    .requiredOption(
      '--from <file|package>',
      "LiteLLM's list as a file, or an installed package such as @pydantic/genai-prices",
    )
    .action(runAlone(modelsUpdate, 'updateModelsCommand'));
}

function addSettingsCommands(program: Command): void {
  const settings = program
    .command('settings')
    .description('providers, models and prices that are saved in the database');
  add(settings, 'show', 'the saved fields').action(run(settingsCommands, 'showSettingsCommand'));
  json(
    settings
      .command('set')
      .description('save a field; gateways use it within two seconds')
      .argument('<field>', 'such as providers.openai.api_key')
      .argument('<value>', 'a text or JSON; - reads it from standard input'),
  ).action(run(settingsCommands, 'setSettingCommand'));
  json(
    settings
      .command('unset')
      .description('remove a saved field or entry')
      .argument('<field>', 'such as models["my-model"]'),
  ).action(run(settingsCommands, 'unsetSettingCommand'));
  add(settings, 'versions', 'the last 100 versions').action(
    run(settingsCommands, 'listVersionsCommand'),
  );
  json(
    settings
      .command('restore')
      .description('go back to an earlier version')
      .argument('<version>', 'its number', parseVersion),
  ).action(run(settingsCommands, 'restoreSettingsCommand'));
  add(program, 'reload', 'have every gateway read its configuration file again').action(
    run(settingsCommands, 'reloadCommand'),
  );
  const config = program.command('config').description('the configuration file');
  add(config, 'export', 'the file with the saved settings in it, as a new file').action(
    run(settingsCommands, 'exportSettingsCommand'),
  );
}

function addImportCommands(program: Command): void {
  const imports = program
    .command('import')
    .description('move accounts, keys and balances here from another gateway');
  const from = (command: Command) =>
    json(command)
      .option('--apply', 'do it; without this, only say what would come')
      .option('--write-config <file>', 'write providers, models and aliases into a new file')
      .option('--invite <file>', 'invite its users, and write the links into this file')
      .option('--strict', 'keys that lose a limit of spending arrive disabled')
      .option('--source <name>', 'another name for a second installation', parseName);
  from(imports.command('litellm').description("from LiteLLM's configuration and database"))
    .option('--database <url>', 'its PostgreSQL database')
    .option('--config <file>', 'its config.yaml')
    .option('--credit-usd <amount>', 'credit this to each account that comes', parseUsd)
    .action(runOnBooks(importCommands, 'importLiteLlmCommand'));
  from(imports.command('new-api').description("from new-api's or one-api's database"))
    .requiredOption('--database <url>', 'its SQLite file or PostgreSQL database')
    .action(runOnBooks(importCommands, 'importNewApiCommand'));
}

const run = runWith({});
const runOnBooks = runWith({ needsBooks: true });
const runOnSecrets = runWith({ needsBooks: true, mayLackSecrets: true });

/** For commands that run on the installation, which they get before `first` and what is given. */
function runWith(needs: Needs) {
  return <Module>(load: Load<Module>, name: keyof Module, ...first: string[]) =>
    printing(load, name, async (work, given, command) => {
      const { withInstallation } = await import('./installation.ts');
      const act = (installation: unknown) => work(installation, ...first, ...given);
      return withInstallation(nameOf(command), act, needs);
    });
}

/** For commands that open themselves what they need. */
function runAlone<Module>(load: Load<Module>, name: keyof Module) {
  return printing(load, name, (work, given) => work(...given));
}

type Load<Module> = () => Promise<Module>;
type Work = (...given: unknown[]) => Promise<Output>;

/** Returns the action of a command: loads its code, runs it, and prints what it returns. */
function printing<Module>(
  load: Load<Module>,
  name: keyof Module,
  act: (work: Work, given: unknown[], command: Command) => Promise<Output>,
) {
  return async (...given: unknown[]) => {
    const command = given.pop() as Command;
    const output = await act((await load())[name] as Work, given, command);
    printOutput(command.opts<JsonOption>(), output);
  };
}

/** Example: `keys create`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}

function add(parent: Command, name: string, description: string, ...given: string[]): Command {
  const command = json(parent.command(name).description(description));
  for (const argument of given) command.argument(argument);
  return command;
}

function json(command: Command): Command {
  return command.option('--json', 'print JSON');
}

function adjustment(command: Command): Command {
  return command
    .argument('<account>')
    .requiredOption('--usd <amount>', 'amount in dollars', parseUsd)
    .option('--test', 'change the test balance instead of the live one')
    .option('--note <text>', 'a note in the statement', parseName);
}

/** `none` clears a limit; a cap of 0 allows nothing. */
function limits(command: Command): Command {
  return requestLimits(command)
    .option('--name <name>', 'its name', parseName)
    .option('--daily-cap-usd <amount>', 'most spend in a UTC day; "none" for no cap', parseUsdCap)
    .option(
      '--monthly-cap-usd <amount>',
      'most spend in a UTC month; "none" for no cap',
      parseUsdCap,
    )
    .option(
      '--models <list>',
      'allowed models, separated by commas; "none" for all',
      parseModelList,
    )
    .option(
      '--scopes <list>',
      `what it may do, separated by commas: ${keyScopes.join(', ')}; "all" for everything`,
      parseKeyScopes,
    )
    .option(
      '--expires <time>',
      'expiry: a UTC day, or a time like 2030-01-31T18:00:00Z; "none" for never',
      parseExpiry,
    )
    .option(
      '--keep-bodies <days>',
      'days for which the bodies of its requests and answers are kept; "none" for not at all',
      parseDays,
    )
    .addOption(
      new Option(
        '--cache-marks <on|off>',
        'mark its prompts for providers’ caches, or not',
      ).choices(['on', 'off']),
    );
}

/** Limits of one key, or of all keys of an account together. */
function requestLimits(command: Command): Command {
  return command
    .option('--rpm <count>', 'requests per minute; "none" for the configured default', parseCount)
    .option('--tpm <count>', 'tokens per minute; "none" for the configured default', parseCount)
    .option(
      '--concurrency <count>',
      'concurrent requests; "none" for the configured default',
      parseCount,
    )
    .option(
      '--allow <list>',
      'allowed client addresses and CIDR ranges, separated by commas; "none" for all',
      parseAddressRanges,
    );
}
