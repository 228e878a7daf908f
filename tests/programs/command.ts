// Runs a program as a user would, but with its own home, settings and working folder.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const packages = join(import.meta.dirname, 'node_modules');
/** Those that only the matrix runs. */
const morePackages = join(import.meta.dirname, 'more', 'node_modules');
const { platform, arch } = process;
/**
 * The entry scripts of Claude Code and opencode need an install script that was not run. Claude
 * Code's other one, and opencode's program itself, do not. `baseline`: runs on every processor.
 */
const opencode = `opencode-${platform}-${arch}${arch === 'x64' ? '-baseline' : ''}`;
const commands = {
  codex: [process.execPath, join(packages, '@openai', 'codex', 'bin', 'codex.js')],
  claude: [process.execPath, join(packages, '@anthropic-ai', 'claude-code', 'cli-wrapper.cjs')],
  opencode: [join(packages, opencode, 'bin', 'opencode')],
  gemini: [process.execPath, join(packages, '@google', 'gemini-cli', 'bundle', 'gemini.js')],
  qwen: [process.execPath, join(packages, '@qwen-code', 'qwen-code', 'cli-entry.js')],
  cline: [process.execPath, join(morePackages, 'cline', 'bin', 'cline')],
  continue: [process.execPath, join(morePackages, '@continuedev', 'cli', 'dist', 'cn.js')],
} as const;
const timeoutMs = 120_000;

export type Workspace = { readonly root: string; readonly home: string; readonly work: string };

/**
 * Folders that are removed after the test. `note.txt` in the working folder contains the marker.
 */
export function makeWorkspace(t: TestContext, marker: string): Workspace {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-programs-'));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const workspace = { root, home: join(root, 'home'), work: join(root, 'work') };
  for (const folder of [workspace.home, workspace.work]) mkdirSync(folder);
  writeFileSync(join(workspace.work, 'note.txt'), `${marker}\n`);
  return workspace;
}

export type RunOptions = {
  readonly workspace: Workspace;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

export type ProgramResult = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

export function commandOf(name: keyof typeof commands): readonly string[] {
  return commands[name];
}

/** `env` is the program's whole environment: no proxy, key or setting of this machine's user. */
export function runProgram(
  name: keyof typeof commands,
  options: RunOptions,
): Promise<ProgramResult> {
  return runCommand(commands[name], options);
}

/** Runs a program of an address of its own, such as a Python package's. */
export async function runCommand(
  [command = '', ...first]: readonly string[],
  { workspace, args, env }: RunOptions,
): Promise<ProgramResult> {
  const child = spawn(command, [...first, ...args], {
    cwd: workspace.work,
    env: {
      PATH: process.env['PATH'],
      HOME: workspace.home,
      TMPDIR: workspace.root,
      LANG: 'C.UTF-8',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, so that child processes end with it.
    detached: true,
  });
  const killGroup = () => killAll(child.pid);
  const timer = setTimeout(killGroup, timeoutMs);
  process.once('exit', killGroup);
  try {
    const [stdout, stderr, code] = await Promise.all([
      readText(child.stdout),
      readText(child.stderr),
      new Promise<number | null>((resolve, reject) =>
        child.once('error', reject).once('exit', resolve),
      ),
    ]);
    return { code, stdout, stderr };
  } finally {
    clearTimeout(timer);
    process.off('exit', killGroup);
    killGroup();
  }
}

function killAll(groupId: number | undefined): void {
  if (groupId === undefined) return;
  try {
    process.kill(-groupId, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}
