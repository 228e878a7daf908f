import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../config/load.ts';
import { explainStart } from './explain-start.ts';

function explain(code: string, port: string): string {
  const config = loadConfig({ env: { PORT: port }, cwd: import.meta.dirname });
  const error = Object.assign(new Error(`listen ${code}`), { code, syscall: 'listen' });
  return (explainStart(error, config) as Error).message;
}

test('a port that needs a privilege is explained with a port that needs none', () => {
  assert.match(
    explain('EACCES', '80'),
    /port 80: this user may not use ports below 1024\. Set PORT/,
  );
  assert.doesNotMatch(explain('EACCES', '80'), /HOST/);
});

test('an address of another machine is explained with HOST and PORT', () => {
  assert.match(explain('EADDRNOTAVAIL', '80'), /Set HOST and PORT/);
  assert.match(explain('EACCES', '4000'), /Set HOST and PORT/);
});
