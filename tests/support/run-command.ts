// Runs commands of the command line in the test's process: to start another one takes most of a
// command's CPU time. They run one after the other, because each has the environment, the output
// and the exit code of the process for itself.
import { mock } from 'node:test';
import { runCommandLine } from '../../src/cli/program.ts';

let earlier: Promise<unknown> = Promise.resolve();

type Environment = Readonly<Record<string, string>>;

/** Returns what the command prints. Throws as `execFile` does. */
export function runCommand(args: readonly string[], env: Environment): Promise<string> {
  const done = earlier.then(() => run(args, env));
  earlier = done.catch(() => {});
  return done;
}

/** Ends a command where the process would end. */
class Exit extends Error {}

async function run(args: readonly string[], env: Environment): Promise<string> {
  let [stdout, stderr] = ['', ''];
  const usual = { env: process.env, exitCode: process.exitCode };
  const patches = [
    mock.method(console, 'log', (text: unknown) => (stdout += `${String(text)}\n`)),
    mock.method(console, 'error', (text: unknown) => (stderr += `${String(text)}\n`)),
    mock.method(process.stderr, 'write', (text: unknown) => (stderr += String(text)) !== ''),
    mock.method(process, 'exit', (code: number) => {
      process.exitCode = code;
      throw new Exit();
    }),
  ];
  process.env = { ...env };
  process.exitCode = 0;
  try {
    await runCommandLine(['node', 'tollgate', ...args]);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
  } finally {
    for (const patch of patches) patch.mock.restore();
    process.env = usual.env;
  }
  const code = process.exitCode;
  process.exitCode = usual.exitCode;
  if (code === 0) return stdout;
  const failure = new Error(`Command failed: tollgate ${args.join(' ')}\n${stderr}`);
  throw Object.assign(failure, { code, stdout, stderr });
}
