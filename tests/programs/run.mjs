// Installs the programs of the lock files, which are large, and runs their tests:
//
//   npm run test:all -- programs
//   npm run test:clients [-- <client> …]    every client on every upstream format
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
const node = setUp({ dev: true });
const [matrix, ...chosen] = process.argv.slice(2);
const isMatrix = matrix === 'clients';
install(folder);
install(join(folder, isMatrix ? 'more' : 'aws'));
if (chosen.length > 0) process.env.TOLLGATE_TEST_CLIENTS = chosen.join(',');
const names = isMatrix
  ? ['matrix.ts']
  : [
      'programs.ts',
      'claude-code.ts',
      'sign-in.ts',
      'llmprobe.ts',
      'vendor-sdks.ts',
      'aws-credentials.ts',
    ];
const tests = names.map((name) => join(folder, name));
const { status } = spawnSync(node, ['--test', ...tests], { cwd: folder, stdio: 'inherit' });
process.exitCode = status ?? 1;

/** Without install scripts: the programs ship as optional packages for each system. */
function install(place) {
  const stampPath = join(place, 'node_modules', '.installed');
  const lock = readFileSync(join(place, 'package-lock.json'));
  const locked = createHash('sha256').update(lock).digest('hex');
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === locked) return;
  const { dependencies } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  console.error(`Tollgate: installing ${Object.keys(dependencies).join(', ')} for their tests …`);
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
    cwd: place,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (installed.status !== 0) {
    console.error(
      `Tollgate: "npm install" failed in ${place}; its message is above. Nothing was tested.`,
    );
    process.exit(1);
  }
  writeFileSync(stampPath, locked);
}
