// What an idle process has loaded. Every thread keeps the text and the compiled form of its code in
// memory, so code that few requests need is loaded with the first of them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { builtProgram, root } from '../support/built-program.ts';
import { startProgram } from '../support/program.ts';

type Loaded = { readonly packages: readonly string[]; readonly modules: readonly string[] };

const preload = join(import.meta.dirname, '..', 'support', 'print-loaded-files.ts');
const { dependencies } = JSON.parse(readFileSync(join(root, 'bundle', 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
};
const ofHttpThread = [
  '@remix-run/headers',
  'aws4fetch',
  'fastify',
  'image-size',
  'ipaddr.js',
  'kysely',
  'lru-cache',
  'pino',
  'typebox',
  'undici',
];

const one = await outputWith(1);
const several = await outputWith(2);

test('an HTTP thread loads no handler of the dashboard, and no package for sign-in, payment, mail or PDF', () => {
  const { packages, modules } = loadedBy(several, 'http-thread.js');
  assert.deepEqual(packages, ofHttpThread);
  assert.deepEqual(
    inRooms(modules, ['reference', 'management/reports', 'management/accounts']),
    [],
  );
});

test('of undici, only what sends requests is loaded', () => {
  const { modules } = loadedBy(several, 'http-thread.js');
  assert.ok(modules.includes('node_modules/undici/lib/dispatcher/pool.js'));
  assert.ok(!modules.includes('node_modules/undici/index.js'));
});

test('of Fastify, its validator of schemas and its requests for tests are not loaded', () => {
  const { modules } = loadedBy(several, 'http-thread.js');
  const unused = /^node_modules\/(?:ajv|light-my-request)\//;
  assert.deepEqual(
    modules.filter((module) => unused.test(module)),
    [],
  );
});

test('beside HTTP threads, the main thread loads nothing that answers requests', () => {
  const { packages, modules } = loadedBy(several, 'main.js');
  assert.deepEqual(packages, ['commander', 'ipaddr.js', 'kysely', 'pino', 'typebox', 'yaml']);
  assert.deepEqual(inRooms(modules, ['server', 'management/contract', 'formats', 'providers']), []);
});

test('as the only HTTP thread, the main thread loads both', () => {
  const { packages } = loadedBy(one, 'main.js');
  assert.deepEqual(packages, [...ofHttpThread, 'commander', 'yaml'].toSorted());
});

test("the ledger's thread loads no package", () => {
  assert.deepEqual(loadedBy(several, 'ledger-worker.js').packages, []);
});

test('no thread formats or compares by language, for which Node reads 7 MB of data', () => {
  for (const output of [one, several]) assert.equal(output.match(/^\S+ uses .*/gm), null);
});

test("no thread loads Node's own fetch and WebSocket, which an import of node:http does", () => {
  const files = new Set([...filesOf(one, 'main.js'), ...filesOf(several, 'http-thread.js')]);
  assert.deepEqual(
    [...files].filter((file) =>
      /^import .* from "(?:node:)?http";$/m.test(readFileSync(file, 'utf8')),
    ),
    [],
  );
});

test('each loaded file is ASCII, because V8 takes two bytes a character otherwise', () => {
  const files = new Set([...filesOf(one, 'main.js'), ...filesOf(several, 'http-thread.js')]);
  // oxlint-disable-next-line no-control-regex -- it is the range of ASCII
  assert.deepEqual(
    [...files].filter((file) => /[^\0-\x7f]/.test(readFileSync(file, 'utf8'))),
    [],
  );
});

/** Returns what a built program prints until it listens. */
async function outputWith(threads: number): Promise<string> {
  const argv = [process.execPath, '--import', preload, builtProgram(), 'serve'];
  const program = await startProgram({ argv, config: { server: { threads } } });
  const { output } = program;
  await program.stop();
  return output;
}

function filesOf(output: string, thread: string): string[] {
  return [...output.matchAll(/^loaded by (\S+): (.+)$/gm)].flatMap(([, by, file]) =>
    by === thread ? [file!] : [],
  );
}

/** `packages`: those that we name ourselves. The bundler names each module in a comment. */
function loadedBy(output: string, thread: string): Loaded {
  const files = filesOf(output, thread);
  assert.ok(files.length > 0, output);
  const modules = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^\/\/ ((?:src|node_modules)\/\S+)$/gm)].map(
      ([, module]) => module!,
    ),
  );
  const packages = Object.keys(dependencies).filter((name) =>
    modules.some((module) => module.startsWith(`node_modules/${name}/`)),
  );
  return { packages: packages.toSorted(), modules };
}

function inRooms(modules: readonly string[], rooms: readonly string[]): string[] {
  return modules.filter((module) => rooms.some((room) => module.startsWith(`src/${room}/`)));
}
