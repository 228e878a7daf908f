import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildProgram } from './program.ts';

test('the help of the report says in words which days it covers by default', () => {
  const report = buildProgram().commands.find((command) => command.name() === 'report')!;
  const help = report.helpInformation().replaceAll(/\s+/g, ' ');
  assert.match(help, /\(default: the first charge\)/);
  assert.match(help, /\(default: the last charge\)/);
  assert.doesNotMatch(help, /default: \d/);
});
