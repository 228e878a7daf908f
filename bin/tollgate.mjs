#!/usr/bin/env node
// The `tollgate` command. Runs on Node 20 or later: sets up a clone if necessary, then starts the
// pinned Node. A package is already built, and has no scripts.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { findNode } from './node.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const setupScript = join(root, 'scripts', 'setup.mjs');
const child = await start();

// The terminal sends Ctrl-C to both processes. A signal sent only to this one is forwarded. In both
// cases the child decides when to exit.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => fail(error.message));
child.on('exit', (code, signal) => {
  process.exit(code ?? (signal ? 1 : 0));
});

async function start() {
  const { node, build } = existsSync(setupScript) ? await setUpClone() : packaged();
  return spawn(node, [join(root, 'dist', build, 'main.js'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
}

async function setUpClone() {
  const { setUp } = await import(pathToFileURL(setupScript).href);
  return { node: setUp({ dev: false }), build: 'current' };
}

function packaged() {
  try {
    return { node: findNode(), build: 'package' };
  } catch (error) {
    return fail(error.message);
  }
}

function fail(message) {
  console.error(`Tollgate: ${message}`);
  process.exit(1);
}
