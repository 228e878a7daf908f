// The command line: every command on one screen. All commands accept --json; its output is a
// contract (docs/command-line.md).
import { Command, CommanderError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { ApiError } from '../canonical/errors.ts';
import { keyScopes } from '../terms/key-scope.ts';
import { modes } from '../terms/mode.ts';
import { ConfigError } from '../config/config-error.ts';
import { DatabaseUnusable, MigrationFailed } from '../db/database-error.ts';
import { LedgerUnavailable } from '../domain/ledger/batcher.ts';
import { prepareWorker } from '../domain/ledger/sqlite/worker-runner.ts';
import { CommandFailed, failureJson } from './output.ts';
import {
  parseAddress,
  parseAddressRanges,
  parseCount,
  parseDay,
  parseDays,
  parseExpiry,
  parseFactor,
  parseFactorOrNone,
  parseMember,
  parseModelList,
  parseOverlap,
  parseRatio,
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
const telemetryCommands = () => import('./account-telemetry.ts');
const keysCommands = () => import('./keys.ts');
const budgetsCommands = () => import('./budgets.ts');
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
  addBudgetsCommands(program);
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
  json(program.command('migrate').description('update the database schema')).action(
    async (options) => (await upkeepCommands()).migrateCommand(options),
  );
  json(
    program
      .command('verify')
      .description('check the books: recompute every balance, hold and cap')
      .option('--all', 'also read sealed days, and compare them with their seals', false),
  ).action(async (options) => (await upkeepCommands()).verifyCommand(options));
  json(
    program
      .command('doctor')
      .description('look for what is wrong with the installation, and say how to mend it')
      .option('--online', 'also ask the providers whether they accept their keys', false),
  ).action(async (options) => (await doctor()).doctorCommand(options));
  json(
    program
      .command('backup')
      .description('copy the database while it is in use')
      .argument('[file]')
      .option('--done', 'only record a backup made with another tool, such as pg_dump', false),
  ).action(async (file, options) => (await upkeepCommands()).backupCommand(file, options));
  json(program.command('move').description('copy the books to the other kind of database'))
    .requiredOption('--to <url>', 'a new database: postgres://… or sqlite:FILE')
    .action(async (options) => (await move()).moveCommand(options));
  json(
    program
      .command('openapi')
      .description('print the description of the API (OpenAPI 3.1)')
      .option('--dashboard', 'of the dashboard’s API'),
  ).action(async (options) => (await openapi()).openapiCommand(options));
}

function addReportCommand(program: Command): void {
  const report = program.command('report').description('revenue, cost, losses and margin');
  json(report)
    .addOption(
      report
        .createOption('--by <group>', 'group the sums by')
        .choices(['day', 'account', 'key', 'model', 'conversation'])
        .default('day'),
    )
    .addOption(report.createOption('--mode <mode>', 'live or test').choices(modes).default('live'))
    .addOption(
      report
        .createOption('--from <date>', 'the first UTC day, such as 2026-11-01')
        .argParser(parseDay)
        .default(0, 'the first charge'),
    )
    .addOption(
      report
        .createOption('--to <date>', 'the UTC day after the last')
        .argParser(parseDay)
        .default(Date.UTC(9999, 0), 'the last charge'),
    )
    .option('--prompt-cache', 'what was read from providers’ caches, what was not, and why')
    .action(async (options) => (await reportCommands()).reportCommand(options));
}

function addRequestsCommands(program: Command): void {
  const requests = program.command('requests').description('requests of all accounts');
  json(
    requests
      .command('show')
      .description('what became of a request, what it cost, and why it failed')
      .argument('<request id>'),
  ).action(async (id, options) => (await requestsCommands()).showRequestCommand(id, options));
}

function addAccountsCommands(program: Command): void {
  const accounts = program.command('accounts').description('accounts and their balances');
  requestLimits(json(accounts.command('create').description('create an account')))
    .requiredOption('--name <name>', 'its name', parseName)
    .option('--credit-usd <amount>', 'credit this amount to its live balance', parseUsd)
    .option(
      '--price-multiplier <factor>',
      'factor on list prices; 0.9 is 10 percent off',
      parseFactor,
    )
    .action(async (options) => (await accountsCommands()).createAccountCommand(options));
  json(accounts.command('list').description('all accounts')).action(async (options) =>
    (await accountsCommands()).listAccountsCommand(options),
  );
  requestLimits(
    json(
      accounts
        .command('update')
        .description("change an account's prices, limits or status")
        .argument('<account>'),
    ),
  )
    .option(
      '--price-multiplier <factor>',
      'factor on list prices; "none" clears the factor of a --model',
      parseFactorOrNone,
    )
    .option('--model <id>', 'only for this model')
    .addOption(
      accounts
        .createOption('--frozen <yes|no>', 'a frozen account cannot spend')
        .choices(['yes', 'no']),
    )
    .addOption(
      accounts
        .createOption(
          '--retain-responses <on|off>',
          'keep its answers for the cache and for replay; "off" also erases them',
        )
        .choices(['on', 'off']),
    )
    .option('--forgive-losses', 'its losses until now no longer count against its loss budget')
    .action(async (id, options) => (await accountsCommands()).updateAccountCommand(id, options));
  json(
    accounts
      .command('purge')
      .description('erase the stored answers of an account')
      .argument('<account>'),
  ).action(async (id, options) => (await accountsCommands()).purgeAccountCommand(id, options));
  json(
    accounts
      .command('telemetry')
      .description("show or change an account's export of its own traces")
      .argument('<account>'),
  )
    .option('--endpoint <address>', 'address of OTLP over HTTP; "none" for no export', parseAddress)
    .option('--headers-file <file>', 'JSON file with all headers of each export')
    .option('--sampling <ratio>', 'share of requests, from 0 to 1', parseRatio)
    .option('--no-content', 'export no prompts and answers; only an owner can switch them on')
    .action(async (id, options) =>
      (await telemetryCommands()).accountTelemetryCommand(id, options),
    );
  adjustment(
    json(accounts.command('credit').description('add to the balance of an account')),
  ).action(async (id, options) => (await accountsCommands()).creditAccountCommand(id, options));
  adjustment(
    json(
      accounts
        .command('debit')
        .description('subtract from the balance of an account, even below zero'),
    ),
  ).action(async (id, options) => (await accountsCommands()).debitAccountCommand(id, options));
}

function addKeysCommands(program: Command): void {
  const keys = program.command('keys').description('API keys and their limits');
  limits(json(keys.command('create').description('create a key; it is shown only once')))
    .requiredOption('--account <id>', 'the account that the key belongs to')
    .addOption(
      keys.createOption('--mode <mode>', 'live or test').choices(modes).makeOptionMandatory(),
    )
    .option(
      '--owner <member>',
      'user id or e-mail address of the member in whose budget it counts; default: nobody',
      parseMember,
    )
    .action(async (options) => (await keysCommands()).createKeyCommand(options));
  json(keys.command('list').description('all keys'))
    .option('--account <id>', 'only the keys of this account')
    .action(async (options) => (await keysCommands()).listKeysCommand(options));
  limits(
    json(keys.command('update').description("change a key's limits").argument('<key id>')),
  ).action(async (id, options) => (await keysCommands()).updateKeyCommand(id, options));
  json(
    keys
      .command('assign')
      .description('give a key to a member, in whose budget it counts')
      .argument('<key id>'),
  )
    .requiredOption(
      '--owner <member>',
      'user id or e-mail address of a member; "none" for nobody',
      parseMember,
    )
    .action(async (id, options) => (await keysCommands()).assignKeyCommand(id, options));
  json(
    keys
      .command('rotate')
      .description('give a key a new text; it is shown only once')
      .argument('<key id>'),
  )
    .option(
      '--overlap <hours>',
      'hours for which the text before works too, at most 720; 0: it ends now',
      parseOverlap,
      24,
    )
    .action(async (id, options) => (await keysCommands()).rotateKeyCommand(id, options));
  json(
    keys
      .command('disable')
      .description('disable a key until it is enabled again')
      .argument('<key id>'),
  ).action(async (id, options) => (await keysCommands()).switchKeyCommand('disable', id, options));
  json(keys.command('enable').description('enable a disabled key').argument('<key id>')).action(
    async (id, options) => (await keysCommands()).switchKeyCommand('enable', id, options),
  );
  json(keys.command('revoke').description('revoke a key for good').argument('<key id>')).action(
    async (id, options) => (await keysCommands()).switchKeyCommand('revoke', id, options),
  );
}

function addBudgetsCommands(program: Command): void {
  const budgets = program
    .command('budgets')
    .description('the most that all keys of a member may spend');
  const ofMember = (command: Command) =>
    json(command).argument('<account>').argument('<member>', 'user id or e-mail address');
  json(
    budgets
      .command('list')
      .description('the budgets of an account, and what live keys have spent')
      .argument('<account>'),
  ).action(async (account, options) =>
    (await budgetsCommands()).listBudgetsCommand(account, options),
  );
  ofMember(budgets.command('set').description('set or change the budget of a member'))
    .option('--daily-usd <amount>', 'most spend in a UTC day; "none" for no limit', parseUsdCap)
    .option('--monthly-usd <amount>', 'most spend in a UTC month; "none" for no limit', parseUsdCap)
    .action(async (account, member, options) =>
      (await budgetsCommands()).setBudgetCommand(account, member, options),
    );
  ofMember(budgets.command('remove').description('remove the budget of a member')).action(
    async (account, member, options) =>
      (await budgetsCommands()).removeBudgetCommand(account, member, options),
  );
}

function addAdminKeysCommands(program: Command): void {
  const keys = program.command('admin-keys').description('keys of the admin API');
  json(keys.command('create').description('create an admin key; it is shown only once'))
    .requiredOption('--name <name>', 'its name', parseName)
    .requiredOption(
      '--scopes <list>',
      'what it may do, such as accounts:read,credits:write; "all" for everything',
      parseScopes,
    )
    .option(
      '--expires <time>',
      'expiry: a UTC day, or a time like 2027-01-31T18:00:00Z; "none" for never',
      parseExpiry,
    )
    .option(
      '--allow <list>',
      'allowed client addresses and CIDR ranges, separated by commas; "none" for all',
      parseAddressRanges,
    )
    .action(async (options) => (await adminKeysCommands()).createAdminKeyCommand(options));
  json(keys.command('list').description('all admin keys')).action(async (options) =>
    (await adminKeysCommands()).listAdminKeysCommand(options),
  );
  json(
    keys.command('revoke').description('revoke an admin key for good').argument('<key id>'),
  ).action(async (id, options) => (await adminKeysCommands()).revokeAdminKeyCommand(id, options));
}

function addUsersCommands(program: Command): void {
  const users = program.command('users').description('the people who use the dashboard');
  json(users.command('list').description('all users')).action(async (options) =>
    (await usersCommands()).listUsersCommand(options),
  );
  json(
    users
      .command('create-link')
      .description('create a one-time link that invites a user')
      .argument('<e-mail>'),
  )
    .option('--account <id>', 'invite to this account; default: a new account')
    .addOption(
      users
        .createOption('--role <role>', 'role in the account')
        .choices(['owner', 'admin', 'member', 'viewer'])
        .default('owner'),
    )
    .action(async (email, options) => (await usersCommands()).createLinkCommand(email, options));
  json(
    users
      .command('reset-password')
      .description('create a one-time link to choose a new password')
      .argument('<e-mail>'),
  )
    .option('--remove-second-factor', 'also all passkeys: for a user who lost the devices')
    .action(async (email, options) => (await usersCommands()).resetPasswordCommand(email, options));
  json(
    users
      .command('remove-passkeys')
      .description('remove all passkeys of a user')
      .argument('<e-mail>'),
  ).action(async (email, options) => (await usersCommands()).removePasskeysCommand(email, options));
  json(
    users.command('first-run-link').description('create a one-time link for the first user'),
  ).action(async (options) => (await usersCommands()).firstRunLinkCommand(options));
}

function addSecretCommands(program: Command): void {
  const secret = program
    .command('secret')
    .description("the installation's secret and its replacement");
  json(
    secret
      .command('status')
      .description('show the secrets, and what still needs the previous ones'),
  ).action(async (options) => (await secretCommands()).secretStatusCommand(options));
  json(
    secret.command('rotate').description('create a new secret; the previous one is still accepted'),
  ).action(async (options) => (await secretCommands()).rotateSecretCommand(options));
  json(secret.command('retire').description('remove all secrets but the current one'))
    .option('--force', 'even if something still needs them and stops working')
    .action(async (options) => (await secretCommands()).retireSecretCommand(options));
}

function addModelsCommands(program: Command): void {
  const models = program.command('models').description('the catalogue');
  json(models.command('list').description('all models with their prices and live routes')).action(
    async (options) => (await modelsCommands()).listModelsCommand(options),
  );
  json(
    models
      .command('check')
      .description('models without a price, a live route or a second source of the price'),
  ).action(async (options) => (await modelsCommands()).checkModelsCommand(options));
  json(
    models
      .command('update')
      .description('compare the catalogue with another price list; changes nothing'),
  )
    .requiredOption(
      '--from <file|package>',
      "LiteLLM's list as a file, or an installed package such as @pydantic/genai-prices",
    )
    .action(async (options) => (await modelsUpdate()).updateModelsCommand(options));
}

function addSettingsCommands(program: Command): void {
  const settings = program
    .command('settings')
    .description('providers, models and prices that are saved in the database');
  json(settings.command('show').description('the saved fields')).action(async (options) =>
    (await settingsCommands()).showSettingsCommand(options),
  );
  json(
    settings
      .command('set')
      .description('save a field; gateways use it within two seconds')
      .argument('<field>', 'such as providers.openai.api_key')
      .argument('<value>', 'a text or JSON; - reads it from standard input'),
  ).action(async (field, value, options) =>
    (await settingsCommands()).setSettingCommand(field, value, options),
  );
  json(
    settings
      .command('unset')
      .description('remove a saved field or entry')
      .argument('<field>', 'such as models["my-model"]'),
  ).action(async (field, options) =>
    (await settingsCommands()).unsetSettingCommand(field, options),
  );
  json(settings.command('versions').description('the last 100 versions')).action(async (options) =>
    (await settingsCommands()).listVersionsCommand(options),
  );
  json(
    settings
      .command('restore')
      .description('go back to an earlier version')
      .argument('<version>', 'its number', parseVersion),
  ).action(async (version, options) =>
    (await settingsCommands()).restoreSettingsCommand(version, options),
  );
  json(
    program.command('reload').description('have every gateway read its configuration file again'),
  ).action(async (options) => (await settingsCommands()).reloadCommand(options));
  const config = program.command('config').description('the configuration file');
  json(
    config.command('export').description('the file with the saved settings in it, as a new file'),
  ).action(async (options) => (await settingsCommands()).exportSettingsCommand(options));
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
    .action(async (options) => (await importCommands()).importLiteLlmCommand(options));
  from(imports.command('new-api').description("from new-api's or one-api's database"))
    .requiredOption('--database <url>', 'its SQLite file or PostgreSQL database')
    .action(async (options) => (await importCommands()).importNewApiCommand(options));
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
      'expiry: a UTC day, or a time like 2027-01-31T18:00:00Z; "none" for never',
      parseExpiry,
    )
    .option(
      '--keep-bodies <days>',
      'days for which the bodies of its requests and answers are kept; "none" for not at all',
      parseDays,
    )
    .addOption(
      command
        .createOption('--cache-marks <on|off>', 'mark its prompts for providers’ caches, or not')
        .choices(['on', 'off']),
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
