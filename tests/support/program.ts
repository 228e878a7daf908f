// The real program for tests: a separate process on a free port, with its command line. For tests
// of the process itself: signals, crashes, memory, output. All others start a gateway in their own
// process (`gateway.ts`).
//
//   const program = await startProgram({ config: { limits: { requests_per_minute: null } } });
//   const { key } = await program.createKey({ mode: 'live', creditUsd: 5 });
//   … fetch(`${program.url}/v1/…`) …
//   await program.stop();   // SIGTERM, verifies the books, removes the folder
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { builtProgram, root } from './built-program.ts';
import {
  assertWhole,
  databaseFor,
  Installation,
  type InstallationOptions,
} from './installation.ts';

export type ProgramOptions = InstallationOptions & {
  /** The command to run in its own process group; default: the program itself. */
  readonly argv?: readonly string[];
  /** Where the command runs; default: the repository. */
  readonly cwd?: string;
};

/** A limit for hangs only. */
const startTimeoutMs = 120_000;

/** A test that dies must not leave a server running. */
const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

export class Program extends Installation {
  #child: ChildProcess | null = null;
  readonly #argv: readonly string[];
  readonly #hasGroup: boolean;
  readonly #cwd: string;

  constructor({ argv, cwd = root, ...options }: ProgramOptions) {
    super(options);
    this.#cwd = cwd;
    this.#hasGroup = argv !== undefined;
    this.#argv = argv ?? [process.execPath, builtProgram(), 'serve'];
  }

  get pid(): number {
    assert.ok(this.#child?.pid, 'the program does not run');
    return this.#child.pid;
  }

  get firstTestKey(): string {
    const key = /tg_test_[0-9A-Za-z]+/.exec(this.output)?.[0];
    assert.ok(key, `no test key in:\n${this.output}`);
    return key;
  }

  get firstRunToken(): string | null {
    return /first-run\?token=([\w-]+)/.exec(this.output)?.[1] ?? null;
  }

  async start(): Promise<void> {
    this.output = '';
    const [command, ...args] = this.#argv;
    const child = spawn(command!, args, {
      cwd: this.#cwd,
      env: this.env,
      detached: this.#hasGroup,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
    this.url = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`the program did not start:\n${this.output}`)),
        startTimeoutMs,
      );
      const settle = (action: () => void) => {
        clearTimeout(timer);
        action();
      };
      const read = (chunk: Buffer) => {
        this.output += chunk.toString();
        const url = /listens on (http:\S+)/.exec(this.output)?.[1];
        if (url) settle(() => resolve(url));
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.on('exit', (code) =>
        settle(() => reject(new Error(`the program ended with ${code}:\n${this.output}`))),
      );
    });
  }

  async verify(): Promise<void> {
    assertWhole(await this.cli<{ ok: boolean }>('verify'));
  }

  /** Kills the process, as a power cut would, and waits until it has ended. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async terminate(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Has the process read its configuration file again. */
  hangUp(): void {
    this.#child?.kill('SIGHUP');
  }

  /** Signals its whole process group, as a terminal or systemd does. Needs `argv`. */
  async signalGroup(signal: NodeJS.Signals): Promise<number | null> {
    return this.#end(signal, (child) => process.kill(-child.pid!, signal));
  }

  async #end(
    signal: NodeJS.Signals,
    send = (child: ChildProcess): unknown => child.kill(signal),
  ): Promise<number | null> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null)
      return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => resolve(code));
    });
    send(child);
    return ended;
  }
}

export async function startProgram(options: ProgramOptions = {}): Promise<Program> {
  const program = new Program(await databaseFor(options));
  await program.start();
  return program;
}
