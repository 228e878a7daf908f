// A batch runs its files one after the other, and no failure of one keeps another from running.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { spawnSync } from 'node:child_process';

/** Runs test files with these sources as one batch. Returns its output. */
function runBatch(sources: readonly string[]): string {
  const folder = mkdtempSync(join(import.meta.dirname, '.batch-'));
  try {
    const files = sources.map((source, index) => {
      const path = join(folder, `${index}.test.mjs`);
      writeFileSync(path, `import { after, test } from 'node:test';\n${source}`);
      return path;
    });
    const batch = new URL('batch.ts', import.meta.url).href;
    const script = `import { runBatch } from '${batch}'; await runBatch(${JSON.stringify(files)});`;
    return spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
const said = (output: string) => Array.from(output.matchAll(/says (\w+)/g), ([, word]) => word);

test('a file is loaded when the tests and hooks of the one before are over', () => {
  const output = runBatch([
    "console.log('says load1'); test('one', () => console.log('says test1')); after(() => console.log('says after1'));",
    "console.log('says load2'); test('two', () => console.log('says test2'));",
  ]);
  assert.deepEqual(said(output), ['load1', 'test1', 'after1', 'load2', 'test2']);
});

test('a failed hook fails its file, and the hooks and files after it run', () => {
  const output = runBatch([
    "test('one', () => {}); after(() => { throw new Error('says oops'); }); after(() => console.log('says after'));",
    "test('two', () => console.log('says two'));",
  ]);
  assert.deepEqual(said(output.split('Error: ')[0]!), ['after', 'two']);
  assert.match(output, /# fail 1|✖|not ok/);
});
