#!/usr/bin/env node
// The `tollgate` command. Runs on Node 20 or later: sets up the clone if necessary, then starts the
// pinned Node.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFlags, setUp } from '../scripts/setup.mjs';

const entry = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'current', 'main.js');
const child = spawn(setUp({ dev: false }), [...nodeFlags, entry, ...process.argv.slice(2)], {
  stdio: 'inherit',
});

// The terminal sends Ctrl-C to both processes. A signal sent only to this one is forwarded. In both
// cases the child decides when to exit.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`Tollgate: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  process.exit(code ?? (signal ? 1 : 0));
});
