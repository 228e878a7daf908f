// Runs one of the programs as a user would, but in folders of its own: its settings, its home and its work are there and nowhere else.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const packages = join(import.meta.dirname, 'node_modules');
/** Claude Code's own entry wants an install script to have run; this one finds the program by itself. */
const entries = {
  codex: join(packages, '@openai', 'codex', 'bin', 'codex.js'),
  claude: join(packages, '@anthropic-ai', 'claude-code', 'cli-wrapper.cjs'),
} as const;
const timeoutMs = 120_000;

export type Workplace = { readonly root: string; readonly home: string; readonly work: string };

/** Folders that are removed after the test; `note.txt` in the work folder holds the marker. */
export function makeWorkplace(t: TestContext, marker: string): Workplace {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-programs-'));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const workplace = { root, home: join(root, 'home'), work: join(root, 'work') };
  for (const folder of [workplace.home, workplace.work]) mkdirSync(folder);
  writeFileSync(join(workplace.work, 'note.txt'), `${marker}\n`);
  return workplace;
}

export type RunOptions = {
  readonly workplace: Workplace;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Only what is named here is in the program's environment: no proxy, no key, no setting of this machine's user. */
export async function runProgram(name: keyof typeof entries, { workplace, args, env }: RunOptions): Promise<Ran> {
  const child = spawn(process.execPath, [entries[name], ...args], {
    cwd: workplace.work,
    env: { PATH: process.env['PATH'], HOME: workplace.home, TMPDIR: workplace.root, LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // In a process group of its own, so that what it started ends with it.
    detached: true,
  });
  const killGroup = () => killAll(child.pid);
  const timer = setTimeout(killGroup, timeoutMs);
  process.once('exit', killGroup);
  try {
    const [stdout, stderr, code] = await Promise.all([
      readText(child.stdout),
      readText(child.stderr),
      new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve)),
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
