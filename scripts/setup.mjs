// Prepares a clone: installs the locked packages, links a recent Node, and builds the server,
// its dashboard and its documentation. Plain JavaScript for Node 20 and later, because it runs
// before the pinned Node is installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findNode } from '../bin/node.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stampPath = join(root, 'node_modules', '.tollgate-setup.json');
const currentBuild = join(root, 'dist', 'current');
const lockPath = join(root, '.setup.lock');
const nodeLink = join(root, 'node_modules', '.bin', 'tollgate-node');
const lockStaleMs = 10 * 60_000;

/**
 * Installs the locked packages, and builds the server, its dashboard and its documentation, if they
 * are missing or out of date. Otherwise returns within milliseconds.
 * @param {{ dev: boolean }} options `dev`: also installs what tests and checks need. Such an
 * installation can also serve.
 * @returns {string} the path of a Node that runs Tollgate.
 */
export function setUp({ dev }) {
  if (!isInstalled(dev) || !isBuilt()) {
    withLock(() => {
      if (!isInstalled(dev)) install(dev);
      if (!isBuilt()) build();
    });
  }
  return nodeLink;
}

function isInstalled(dev) {
  if (!existsSync(stampPath) || !existsSync(nodeLink)) return false;
  try {
    const stamp = JSON.parse(readFileSync(stampPath, 'utf8'));
    return stamp.lock === lockHash() && (stamp.dev || !dev);
  } catch {
    return false;
  }
}

function install(dev) {
  console.error('Tollgate: installing packages (only at the first start and after updates) …');
  const options = [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...(dev ? ['--include=dev'] : ['--omit=dev']),
  ];
  // Optional packages hold the pinned Node, so they are installed whatever the user's npm settings
  // are. No package needs a script of its own.
  const result = spawnSync('npm', [...options, '--include=optional'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
    // A caller's NODE_ENV=production must not skip the packages that tests need.
    env: { ...process.env, NODE_ENV: '' },
  });
  if (result.error)
    fail(
      `npm could not be started: ${result.error.message}. Install Node.js 20 or newer with npm.`,
    );
  if (result.status !== 0) fail('"npm ci" failed; see its message above.');
  mkdirSync(dirname(nodeLink), { recursive: true });
  rmSync(nodeLink, { force: true });
  symlinkSync(relative(dirname(nodeLink), usableNode()), nodeLink);
  writeFileSync(stampPath, JSON.stringify({ lock: lockHash(), dev }));
}

function usableNode() {
  try {
    return findNode();
  } catch (error) {
    return fail(error.message);
  }
}

/** A build's name is the hash of its sources. */
function isBuilt() {
  return (
    existsSync(join(currentBuild, 'main.js')) && readlinkSync(currentBuild) === buildNames().server
  );
}

function build() {
  const { server, dashboard, docs } = buildNames();
  const command = [join(root, 'scripts', 'build.mjs'), server, dashboard, docs];
  const result = spawnSync(nodeLink, command, { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) fail('the server could not be built; see the message above.');
}

/**
 * The dashboard and the documentation import only types from `src`, so they need not be rebuilt with
 * it. The dashboard makes forms from the schema of the configuration.
 */
function buildNames() {
  const schema = readFileSync(join(root, 'docs', 'config.schema.json'), 'utf8');
  const dashboard = `dashboard-${sourcesHash(['dashboard', 'scripts'], schema)}`;
  const docs = `docs-${sourcesHash(['docs', 'docs-site', 'scripts'])}`;
  return { dashboard, docs, server: sourcesHash(['src', 'catalog', 'scripts'], dashboard + docs) };
}

/**
 * Hashes names, sizes and modification times: reading every file would take longer than the rest of
 * the check.
 * @param {string[]} folders
 */
function sourcesHash(folders, seed = '') {
  const hash = createHash('sha256').update(lockHash() + seed);
  for (const folder of folders) {
    for (const entry of readdirSync(join(root, folder), {
      recursive: true,
      encoding: 'utf8',
    }).toSorted()) {
      const { size, mtimeMs } = statSync(join(root, folder, entry));
      hash.update(`${folder}/${entry} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

/** Two starts must not install at the same time: the second waits for the first. */
function withLock(action) {
  for (;;) {
    try {
      mkdirSync(lockPath);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const ageMs = Date.now() - (statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs ?? 0);
      if (ageMs > lockStaleMs) rmSync(lockPath, { recursive: true, force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    }
  }
  try {
    utimesSync(lockPath, new Date(), new Date());
    return action();
  } finally {
    rmSync(lockPath, { recursive: true, force: true });
  }
}

function fail(message) {
  console.error(`Tollgate: ${message}`);
  rmSync(lockPath, { recursive: true, force: true });
  process.exit(1);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  setUp({ dev: process.argv.includes('--dev') });
}
