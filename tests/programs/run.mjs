// Installs the programs of the lock file, several hundred megabytes, and runs their tests:
//
//   npm run test:all -- programs
//
// Not part of `npm test`, because the first run needs a package registry. Plain JavaScript for Node
// 20 and later.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUp } from '../../scripts/setup.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const stampPath = join(folder, 'node_modules', '.installed');
const locked = createHash('sha256')
  .update(readFileSync(join(folder, 'package-lock.json')))
  .digest('hex');

const node = setUp({ dev: true });
if (!existsSync(stampPath) || readFileSync(stampPath, 'utf8') !== locked) install();
const tests = ['programs.ts', 'claude-code.ts', 'sign-in.ts', 'llmprobe.ts'].map((name) =>
  join(folder, name),
);
const { status } = spawnSync(node, ['--test', ...tests], { cwd: folder, stdio: 'inherit' });
process.exitCode = status ?? 1;

/** Without install scripts: the programs ship as optional packages for each system. */
function install() {
  console.error(
    'Tollgate: installing Codex, Claude Code, opencode, Qwen Code and llmprobe for their tests …',
  );
  const options = [
    // Not `ci`: the lock file has the packages of one system only.
    'install',
    '--no-save',
    '--ignore-scripts',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  const installed = spawnSync('npm', options, {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (installed.status !== 0) {
    console.error(
      'Tollgate: "npm install" failed in tests/programs; its message is above. Nothing was tested.',
    );
    process.exit(1);
  }
  writeFileSync(stampPath, locked);
}
