import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listedCommands } from '../../tests/support/commands.ts';
import { contract } from '../management/contract/contract.ts';
import type { Endpoint } from '../management/contract/endpoint.ts';
import { buildProgram } from './program.ts';

test('the help of the report says in words which days it covers by default', () => {
  const report = buildProgram().commands.find((command) => command.name() === 'report')!;
  const help = report.helpInformation().replaceAll(/\s+/g, ' ');
  assert.match(help, /\(default: the first charge\)/);
  assert.match(help, /\(default: the last charge\)/);
  assert.doesNotMatch(help, /default: \d/);
});

test('the contract names the command of a call, and only these commands have no call', () => {
  const named = Object.values<Endpoint>(contract).flatMap(({ commands = [] }) => commands);
  const withoutCall = [
    'serve',
    'migrate',
    'doctor',
    'verify',
    'backup',
    'openapi',
    'users first-run-link',
    'secret status',
    'secret rotate',
    'secret retire',
    'models update',
    'move',
    'import litellm',
    'import new-api',
  ];
  assert.deepEqual(
    [...new Set([...named, ...withoutCall])].toSorted(),
    listedCommands.map(({ name }) => name).toSorted(),
  );
});
