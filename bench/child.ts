// A measured process. It runs on its own core if possible, and reports its CPU time and memory.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

export type Usage = { readonly cpuMicros: number; readonly rssBytes: number };
/** Heap and buffers in use after a garbage collection, in all threads. */
export type LiveHeap = { readonly bytes: number; readonly threads: number };

export type Child = {
  readonly port: number;
  readonly pid: number;
  readonly usage: () => Promise<Usage>;
  readonly liveHeap: () => Promise<LiveHeap>;
  /** Sends SIGTERM and waits for the exit. */
  readonly stop: () => Promise<void>;
  /** Sends SIGKILL and waits for the exit. */
  readonly kill: () => Promise<void>;
};

export type ChildOptions = {
  readonly script: string;
  readonly scriptArguments?: readonly string[];
  readonly nodeArguments?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly core: Core;
  /** Finds the port in the process's output. */
  readonly portPattern?: RegExp;
};

/**
 * Contestants take turns on one core; clients and upstream share the other. Processes that are not
 * compared run on `any`.
 */
type Core = 'contestant' | 'bench' | 'any';
const coreNumbers: Record<Core, string> = { contestant: '0', bench: '1', any: '0,1' };

/** True when processes can be pinned to cores: this needs Linux's `taskset` and two cores. */
export const isPinned = pinSelf();

const startTimeoutMs = 30_000;

/**
 * Starts the process and waits until it has printed its port. Throws with its output when it exits
 * before.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const {
    script,
    scriptArguments = [],
    nodeArguments = [],
    env = process.env,
    core,
    portPattern = /^(\d+)$/m,
  } = options;
  const preload = ['--import', join(import.meta.dirname, 'child-usage.ts')];
  const command = [
    ...pinTo(core),
    process.execPath,
    ...preload,
    ...nodeArguments,
    script,
    ...scriptArguments,
  ];
  const child = spawn(command[0]!, command.slice(1), {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const port = await readPort(child, portPattern);
  const failed = () => void endBench(`a bench process exited on its own: ${command.join(' ')}`);
  child.once('exit', failed);
  const end = async (signal: NodeJS.Signals) => {
    child.off('exit', failed);
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  const ask = async (question: string) => {
    child.send(question);
    return ((await once(child, 'message')) as [unknown])[0];
  };
  return {
    port,
    pid: child.pid!,
    usage: async () => (await ask('usage')) as Usage,
    liveHeap: async () => (await ask('live-heap')) as LiveHeap,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

async function readPort(child: ChildProcess, pattern: RegExp): Promise<number> {
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const fail = (what: string) => reject(new Error(`a bench process ${what}:\n${output}`));
  const timer = setTimeout(() => fail('did not start'), startTimeoutMs);
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    const port = pattern.exec(output)?.[1];
    if (port !== undefined) resolve(Number(port));
  };
  child.stdout!.on('data', read);
  child.stderr!.on('data', read);
  const exited = () => fail('exited');
  child.once('exit', exited);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.off('exit', exited);
    child.stdout!.off('data', read).resume();
    child.stderr!.off('data', read).pipe(process.stderr);
  }
}

function endBench(reason: string): never {
  console.error(reason);
  process.exit(1);
}

/** Returns the words to put before a command, so that it runs on a core. */
export function pinTo(core: Core): string[] {
  return isPinned ? ['taskset', '-c', coreNumbers[core]] : [];
}

function pinSelf(): boolean {
  if (availableParallelism() < 2) return false;
  try {
    execFileSync('taskset', ['-a', '-c', '-p', coreNumbers.bench, String(process.pid)], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
