// The runnable samples of `docs/guides`. A fence such as ```python run is run as a program; the
// fence ```text output below it says what the program prints with a test key.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './built-program.ts';
import type { TestGateway } from './gateway.ts';

const languages = ['sh', 'js', 'python', 'go'] as const;
type Language = (typeof languages)[number];

export type Sample = {
  /** Such as `streaming.md, line 12`. */
  readonly place: string;
  readonly language: Language;
  readonly code: string;
  /** What it prints, in order; `…` stands for any text. */
  readonly output: string;
};

/** A program that runs a sample. `code`: given on its standard input. */
export type SampleCommand = {
  readonly program: string;
  readonly args: readonly string[];
  readonly code?: string;
  readonly folder?: string;
};

const folder = join(root, 'docs', 'guides');
/** A limit for hangs only. */
const secondsMax = 180;

/** Name and text of each guide. */
export const guideTexts = globSync('*.md', { cwd: folder })
  .toSorted()
  .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const);

export const samples: readonly Sample[] = guideTexts.flatMap(([name, text]) =>
  samplesIn(name, text),
);

export function samplesIn(name: string, text: string): Sample[] {
  const found: Sample[] = [];
  for (const match of text.matchAll(
    /^```(\w+) run\n([^]*?)^```$(?:\n\n```text output\n([^]*?)^```$)?/gm,
  )) {
    const [, language = '', code = '', output = ''] = match;
    const place = `${name}, line ${text.slice(0, match.index).split('\n').length}`;
    assert.ok(isLanguage(language), `${place}: samples in ${language} cannot be run`);
    assert.ok(output.trim() !== '', `${place}: the sample is not followed by its output`);
    found.push({ place, language, code, output });
  }
  return found;
}

function isLanguage(name: string): name is Language {
  return (languages as readonly string[]).includes(name);
}

/** Writes the gateway's address and a test key of a new account into a sample, as the page does. */
export async function fillSample(gateway: TestGateway, { code }: Pick<Sample, 'code'>) {
  const { key } = await gateway.makeKey({ mode: 'test', creditUsd: 5 });
  const filled = code.replaceAll('http://127.0.0.1:4000', gateway.url).replaceAll('YOUR_KEY', key);
  return { code: filled, key };
}

/** Runs a sample and checks what it prints. */
export async function runSample(
  gateway: TestGateway,
  sample: Omit<Sample, 'language'>,
  commandOf: (code: string) => SampleCommand,
): Promise<void> {
  const { code, key } = await fillSample(gateway, sample);
  const printed = await runCommand(commandOf(code), { ...process.env, TOLLGATE_KEY: key });
  assertPrints(printed, sample);
}

/** Runs samples in JavaScript or TypeScript, and returns what each prints. */
export async function runModules(
  gateway: TestGateway,
  own: readonly Omit<Sample, 'language'>[],
): Promise<string[]> {
  const filled = await Promise.all(own.map((sample) => fillSample(gateway, sample)));
  const args = [join(import.meta.dirname, 'run-modules.mjs')];
  const code = JSON.stringify(filled);
  return JSON.parse(await runCommand({ program: process.execPath, args, code })) as string[];
}

/** Returns what the command prints. */
export function runCommand(
  { program, args, code, folder: cwd = root }: SampleCommand,
  env = process.env,
): Promise<string> {
  return new Promise((resolve) => {
    const options = { env, cwd, timeout: secondsMax * 1000 };
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve(error ? `${stdout}${stderr}${error.message}` : stdout),
    );
    child.stdin?.end(code);
  });
}

/** Letter case does not count: header names have any. */
export function assertPrints(
  printed: string,
  { place, output }: Pick<Sample, 'place' | 'output'>,
): void {
  let at = 0;
  for (const part of output.split(/…|\n/).filter((text) => text !== '')) {
    const found = printed.toLowerCase().indexOf(part.toLowerCase(), at);
    assert.notEqual(found, -1, `${place} does not print “${part}”, but:\n${printed}`);
    at = found + part.length;
  }
}
