// A measured process: started on a core of its own where that can be arranged, and asked what it has used.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

export type Usage = { readonly cpuMicros: number; readonly rssBytes: number };

export type Child = {
  readonly port: number;
  readonly usage: () => Promise<Usage>;
  /** SIGTERM, and waits for the end. */
  readonly stop: () => Promise<void>;
};

export type ChildOptions = {
  readonly script: string;
  readonly scriptArguments?: readonly string[];
  readonly nodeArguments?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly core: Core;
  /** Finds the port in what the process prints. */
  readonly portPattern?: RegExp;
};

/** Contestants run on one core, in turn; everything that measures them shares the other. What is not compared runs on `any`. */
export type Core = 'contestant' | 'bench' | 'any';
const coreNumbers: Record<Core, string> = { contestant: '0', bench: '1', any: '0,1' };

/** Whether processes can be kept on their cores: it takes `taskset`, which Linux has, and two cores. */
export const isPinned = pinSelf();

const startTimeoutMs = 30_000;

/** Starts the process and waits until it has printed its port. Throws with its output when it ends before. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { script, scriptArguments = [], nodeArguments = [], env = process.env, core, portPattern = /^(\d+)$/m } = options;
  const preload = ['--import', join(import.meta.dirname, 'child-usage.ts')];
  const command = [...pinTo(core), process.execPath, ...preload, ...nodeArguments, script, ...scriptArguments];
  const child = spawn(command[0]!, command.slice(1), { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const port = await readPort(child, portPattern);
  const failed = () => void endBench(`a process of the bench ended by itself: ${command.join(' ')}`);
  child.once('exit', failed);
  return {
    port,
    usage: async () => {
      child.send('usage');
      return ((await once(child, 'message')) as [Usage])[0];
    },
    stop: async () => {
      child.off('exit', failed);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function readPort(child: ChildProcess, pattern: RegExp): Promise<number> {
  let output = '';
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const fail = (what: string) => reject(new Error(`a process of the bench ${what}:\n${output}`));
  const timer = setTimeout(() => fail('did not start'), startTimeoutMs);
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    const port = pattern.exec(output)?.[1];
    if (port !== undefined) resolve(Number(port));
  };
  child.stdout!.on('data', read);
  child.stderr!.on('data', read);
  const exited = () => fail('ended');
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

function pinTo(core: Core): string[] {
  return isPinned ? ['taskset', '-c', coreNumbers[core]] : [];
}

function pinSelf(): boolean {
  if (availableParallelism() < 2) return false;
  try {
    execFileSync('taskset', ['-a', '-c', '-p', coreNumbers.bench, String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
