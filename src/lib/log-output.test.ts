import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { until } from '../../tests/support/until.ts';
import { openLogOutput } from './log-output.ts';

/** Fails each write with ENOSPC. */
const fullDevice = '/dev/full';
const skip = !existsSync(fullDevice) && 'this system has no /dev/full';

test('lines are written in order, also those that a flush writes', async (t) => {
  const path = join(tmpdir(), `tollgate-log-${process.pid}`);
  const output = openLogOutput(openFor(t, path), () => assert.fail('nothing was dropped'));
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`);
  for (const line of lines.slice(0, 999)) output.write(line);
  await until(() => readFileSync(path, 'utf8').endsWith('line 998\n'));
  output.write(lines[999]!);
  output.flush();
  await until(() => readFileSync(path, 'utf8') === lines.join(''));
  rmSync(path);
});

test('a log that cannot be written neither stalls nor ends the process', { skip }, (t) => {
  const output = openLogOutput(openFor(t, fullDevice), () => assert.fail('nothing was written'));
  for (let line = 0; line < 10; line++) {
    output.write(`line ${line}\n`);
    output.flush();
  }
});

test('a process that logs to a full disk still exits', { skip }, () => {
  const code = `
    const { openLog } = await import(${JSON.stringify(new URL('./json-log.ts', import.meta.url))});
    const { log, flush } = openLog('info');
    log.error({ err: new Error('x') }, 'lost');
    flush();`;
  const log = openSync(fullDevice, 'w');
  execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', log, 'inherit'],
    timeout: 60_000,
  });
  closeSync(log);
});

function openFor(t: TestContext, path: string): number {
  const fd = openSync(path, 'w');
  t.after(() => closeSync(fd));
  return fd;
}
