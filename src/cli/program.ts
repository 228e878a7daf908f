// The command line: every command on one screen. Each takes --json; what it prints then is a contract (README, "Command line").
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { createAccountCommand, creditAccountCommand, debitAccountCommand, listAccountsCommand } from './accounts.ts';
import { createKeyCommand, listKeysCommand, revokeKeyCommand, updateKeyCommand } from './keys.ts';
import { checkModelsCommand, listModelsCommand } from './models.ts';
import { CommandFailed } from './output.ts';
import { parseCount, parseFactor, parseModelList, parseName, parseUsd, parseUsdCap } from './parse.ts';
import { migrateCommand, verifyCommand } from './upkeep.ts';

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
    (error instanceof Error && 'syscall' in error && 'path' in error)
  );
}

function buildProgram(): Command {
  const program = new Command('tollgate')
    .description('A paid HTTP gateway for language models.')
    .version(packageVersion())
    .exitOverride()
    .showHelpAfterError('(run with --help for the options)');

  // Loaded when it is run: the server is the larger part of the code, and the other commands need none of it.
  const serve = async () => (await import('./serve.ts')).serveCommand();
  program.command('serve').description('start the gateway').action(serve);
  json(program.command('migrate').description('bring the database up to date')).action(migrateCommand);
  json(program.command('verify').description('prove the books: recompute every balance, hold and cap')).action(verifyCommand);

  const accounts = program.command('accounts').description('accounts and their balances');
  json(accounts.command('create').description('make an account'))
    .requiredOption('--name <name>', 'what to call it', parseName)
    .option('--credit-usd <amount>', 'put this much on its live balance', parseUsd)
    .option('--price-multiplier <factor>', 'its prices, times the list prices: 0.9 is a tenth off', parseFactor)
    .action(createAccountCommand);
  json(accounts.command('list').description('all accounts')).action(listAccountsCommand);
  adjustment(json(accounts.command('credit').description('add to a balance'))).action(creditAccountCommand);
  adjustment(json(accounts.command('debit').description('take from a balance, below zero if need be'))).action(
    debitAccountCommand,
  );

  const keys = program.command('keys').description('API keys and their limits');
  limits(json(keys.command('create').description('make a key; it is shown once')))
    .requiredOption('--account <id>', 'whose key')
    .addOption(keys.createOption('--mode <mode>', 'live or test').choices(['live', 'test']).makeOptionMandatory())
    .action(createKeyCommand);
  json(keys.command('list').description('all keys')).option('--account <id>', "one account's only").action(listKeysCommand);
  limits(json(keys.command('update').description("change a key's limits").argument('<key id>'))).action(updateKeyCommand);
  json(keys.command('revoke').description('end a key for good').argument('<key id>')).action(revokeKeyCommand);

  const models = program.command('models').description('the catalogue');
  json(models.command('list').description('all models, with prices and whether they are live')).action(listModelsCommand);
  json(models.command('check').description('models without a price or a route')).action(checkModelsCommand);
  return program;
}

function packageVersion(): string {
  const path = join(import.meta.dirname, '..', '..', 'package.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
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
  return command
    .option('--name <name>', 'what to call it', parseName)
    .option('--daily-cap-usd <amount>', 'spend a day at most, UTC; "none" for no cap', parseUsdCap)
    .option('--monthly-cap-usd <amount>', 'spend a month at most, UTC; "none" for no cap', parseUsdCap)
    .option('--models <list>', 'allowed models, by comma; "none" for all', parseModelList)
    .option('--rpm <count>', 'requests a minute; "none" for the configured default', parseCount);
}
