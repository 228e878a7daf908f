import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-lock-'));
after(() => rmSync(folder, { recursive: true }));

/** Appends its start and end to the journal while it holds the lock. */
const script = (path: string, journal: string) => `
  import { appendFileSync } from 'node:fs';
  import { withProcessLock } from ${JSON.stringify(join(import.meta.dirname, 'process-lock.ts'))};
  withProcessLock(${JSON.stringify(path)}, () => {
    appendFileSync(${JSON.stringify(journal)}, 'start\\n');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    appendFileSync(${JSON.stringify(journal)}, 'end\\n');
  });
`;

const runScript = async (path: string, journal: string) => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script(path, journal)], {
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number];
  assert.equal(code, 0);
};

test('processes that want one lock hold it one after the other', async () => {
  const [path, journal] = [join(folder, 'shared'), join(folder, 'journal')];
  await Promise.all(Array.from({ length: 4 }, () => runScript(path, journal)));
  assert.equal(readFileSync(journal, 'utf8'), 'start\nend\n'.repeat(4));
  assert.equal(existsSync(path), false);
});

test('the lock of a killed process is taken over', async () => {
  const [path, journal] = [join(folder, 'left'), join(folder, 'taken-over')];
  const gone = spawn(process.execPath, ['--eval', '']);
  await once(gone, 'exit');
  writeFileSync(path, String(gone.pid));
  await runScript(path, journal);
  assert.equal(readFileSync(journal, 'utf8'), 'start\nend\n');
});
