import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTable, printOutput } from './output.ts';

test('control characters of a name reach no terminal, nor a line of their own', (t) => {
  const log = t.mock.method(console, 'log', () => {});
  const table = formatTable(['NAME', 'KEY'], [['a\u001b[2Kb\nc\u202ed', 'k']]);
  printOutput({}, [null, table]);
  const [printed] = log.mock.calls[0]!.arguments as [string];
  assert.equal(printed.split('\n')[1], 'a\ufffd[2Kb\ufffdc\ufffdd  k');
});
