// Runs a peer that is not ours, on the contestants' core, until it listens.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pinTo } from '../child.ts';
import type { Running } from './peer.ts';
import { treePids } from './process-tree.ts';

export type ProgramOptions = {
  readonly command: readonly string[];
  /** Added to PATH and HOME: keys and proxies of this machine do not reach the peer. */
  readonly env: Readonly<Record<string, string>>;
  /** The working folder. The output goes to `output.log` in it. */
  readonly folder: string;
  readonly port: number;
};

/** LiteLLM imports for twenty seconds on a busy core. */
const startTimeoutMs = 120_000;
const stopTimeoutMs = 10_000;

export async function startProgram(options: ProgramOptions): Promise<Running> {
  const { command, env, folder, port } = options;
  const log = join(folder, 'output.log');
  const output = openSync(log, 'a');
  const words = [...pinTo('contestant'), ...command];
  const child = spawn(words[0]!, words.slice(1), {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
    stdio: ['ignore', output, output],
  });
  const exited = once(child, 'exit');
  await listens(port, () => {
    if (child.exitCode === null && child.signalCode === null) return;
    throw new Error(`${command[0]} exited:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
  });
  const kill = async () => {
    for (const pid of treePids(child.pid!)) process.kill(pid, 'SIGKILL');
    await exited;
  };
  return {
    port,
    pid: child.pid!,
    kill,
    stop: async () => {
      child.kill('SIGTERM');
      const stopped = exited.then(() => true);
      if (!(await Promise.race([stopped, setTimeout(stopTimeoutMs, false)]))) await kill();
    },
  };
}

async function listens(port: number, check: () => void): Promise<void> {
  for (const startMs = performance.now(); ; await setTimeout(50)) {
    check();
    if (await accepts(port)) return;
    if (performance.now() - startMs > startTimeoutMs)
      throw new Error(`nothing listens on port ${port} after ${startTimeoutMs / 1_000} s`);
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
