// The layout of ARCHITECTURE.md, enforced: who may import whom, and what stays free of input and output.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const source = join(root, 'src');
const domain = ['db', 'lib', 'canonical', 'config'];

/** Each part of `src/` and the parts it may import beside itself. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['cli'],
  'first-start.ts': ['accounts', 'keys', 'ledger', 'users', 'audit', 'db', 'lib'],
  'app.ts': [
    'first-start.ts',
    'activity',
    'server',
    'gateway',
    'keys',
    'ledger',
    'billing',
    'audit',
    'catalog',
    'idempotency',
    'cache',
    'limits',
    'config',
    'db',
    'lib',
  ],
  cli: [
    'app.ts',
    'audit',
    'billing',
    'accounts',
    'users',
    'keys',
    'ledger',
    'catalog',
    'idempotency',
    'cache',
    'canonical',
    'config',
    'db',
    'lib',
  ],
  server: [
    'gateway',
    'formats',
    'accounts',
    'keys',
    'ledger',
    'catalog',
    'limits',
    'images',
    'activity',
    'users',
    'audit',
    'billing',
    'cache',
    'idempotency',
    'dashboard-contract',
    ...domain,
  ],
  gateway: [
    'activity',
    'formats',
    'providers',
    'keys',
    'ledger',
    'catalog',
    'idempotency',
    'cache',
    'limits',
    'search',
    'images',
    'lib',
    'canonical',
    'config',
  ],
  providers: ['formats', 'canonical', 'lib'],
  formats: ['canonical', 'lib'],
  'dashboard-contract': ['canonical', 'lib'],
  accounts: domain,
  users: domain,
  activity: domain,
  audit: domain,
  billing: domain,
  catalog: domain,
  keys: domain,
  idempotency: domain,
  cache: domain,
  search: domain,
  images: domain,
  ledger: domain,
  limits: domain,
  config: ['canonical', 'lib'],
  db: ['lib'],
  canonical: ['lib'],
  lib: [],
};

/** Node's modules and packages that the pure parts may use: none of them reads or writes anything. */
const pureImports = ['typebox', 'node:assert/strict', 'node:string_decoder', 'node:crypto'];

type Import = { readonly file: string; readonly specifier: string };

const isTest = (file: string) => file.endsWith('.test.ts');
const everyFile = globSync('**/*.ts', { cwd: source });
const files = everyFile.filter((file) => !isTest(file));

/** Files that nothing imports: a process or a thread starts with them. */
const entries = ['main.ts', 'ledger/sqlite-worker.ts', ...globSync('*/write-docs.ts', { cwd: source })];

function importsOf(file: string): Import[] {
  const text = readFileSync(join(source, file), 'utf8');
  const found = text.matchAll(
    /^\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'|^import\s+'([^']+)'|new URL\('(\.[^']+)'/gm,
  );
  return [...found].map((match) => ({ file, specifier: match[1] ?? match[2] ?? match[3] ?? match[4]! }));
}

/** The files that a file imports, by their paths from `src/`; packages and Node's modules are left out. */
function importedFiles(file: string): string[] {
  const specifiers = importsOf(file).map(({ specifier }) => specifier);
  return specifiers.filter((specifier) => specifier.startsWith('.')).map((specifier) => join(dirname(file), specifier));
}

/** `a.ts imports b.ts`, for each imported file that is not allowed. */
function importsExcept(file: string, isAllowed: (target: string) => boolean): string[] {
  const breaches = importedFiles(file).filter((target) => !isAllowed(target));
  return breaches.map((target) => `${file} imports ${target}`);
}

function partOf(file: string): string {
  return file.split('/')[0]!;
}

test('every import follows the table', () => {
  const breaches = files.flatMap((file) => {
    const from = partOf(file);
    assert.ok(allowed[from], `src/${from} is not in the table`);
    return importsExcept(file, (target) => target.startsWith('..') || [from, ...allowed[from]!].includes(partOf(target)));
  });
  assert.deepEqual(breaches, []);
});

test('from outside src/, production code imports only the catalogue and package.json', () => {
  const isAllowed = (target: string) => !target.startsWith('..') || /^\.\.\/(?:catalog\/.*|package)\.json$/.test(target);
  assert.deepEqual(
    files.flatMap((file) => importsExcept(file, isAllowed)),
    [],
  );
});

test('from tests/, unit tests import only tests/support/', () => {
  const isAllowed = (target: string) => !target.startsWith('../tests/') || target.startsWith('../tests/support/');
  assert.deepEqual(
    everyFile.flatMap((file) => importsExcept(file, isAllowed)),
    [],
  );
});

test('every file of src/ that is not a test can be reached by imports from an entry', () => {
  const reached = new Set(entries);
  // A set that grows while it is read gives its new elements too.
  for (const file of reached) for (const target of importedFiles(file)) if (files.includes(target)) reached.add(target);
  const unreached = files.filter((file) => !reached.has(file));
  assert.deepEqual(unreached, [], 'code that only tests import belongs in tests/support/');
});

test('from src/, the dashboard imports only the types of the contract', () => {
  const dashboard = join(root, 'dashboard');
  const breaches = globSync('**/*.{ts,tsx}', { cwd: dashboard }).flatMap((file) => {
    const text = readFileSync(join(dashboard, file), 'utf8');
    const imports = [
      ...text.matchAll(/^(?:import|export)\b(?<what>[^'";]*?)from\s+'(?<from>\.[^']+)'|import\('(?<lazy>\.[^']+)'/gm),
    ];
    return imports.flatMap(({ groups }) => {
      const target = relative(root, join(dashboard, dirname(file), groups!.from ?? groups!.lazy!));
      if (target.startsWith('dashboard/')) return [];
      const isType = groups!.what?.trimStart().startsWith('type ') === true;
      return isType && target.startsWith('src/dashboard-contract/') ? [] : [`${file} imports ${target}`];
    });
  });
  assert.deepEqual(breaches, []);
});

test('formats and canonical do no input or output', () => {
  const breaches = files
    .filter((file) => ['formats', 'canonical'].includes(partOf(file)))
    .flatMap(importsOf)
    .filter(({ specifier }) => !specifier.startsWith('.') && !pureImports.includes(specifier));
  assert.deepEqual(breaches, []);
});

test('time is a part that is passed in: only lib/clock.ts asks the system for it', () => {
  const ofTheSystem =
    /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bprocess\.hrtime\b|\bAbortSignal\.timeout\b|(?<![\w.#])set(?:Timeout|Interval)\(|\bimport[^;]*\bset(?:Timeout|Interval)\b[^;]*'node:timers[^;]*/g;
  for (const file of files.filter((name) => name !== 'lib/clock.ts')) {
    const [found] = readFileSync(join(source, file), 'utf8').match(ofTheSystem) ?? [];
    assert.equal(
      found,
      undefined,
      `src/${file}: use a Clock that is passed in (src/lib/clock.ts), which tests move, not ${found}`,
    );
  }
});

test('no wire format knows another', () => {
  const breaches = files
    .filter((file) => /^formats\/\w+\//.test(file))
    .flatMap((file) => importsExcept(file, (target) => !/^formats\/\w+\//.test(target) || dirname(target) === dirname(file)));
  assert.deepEqual(breaches, []);
});

test('every wire format holds the same files', () => {
  const names = (format: string) =>
    files.filter((file) => dirname(file) === `formats/${format}`).map((file) => file.split('/')[2]);
  const shared = names('chat').filter((name) => names('responses').includes(name) && names('messages').includes(name));
  for (const name of [
    'schema.ts',
    'parse-request.ts',
    'read-request.ts',
    'write-request.ts',
    'read-answer.ts',
    'write-answer.ts',
    'read-stream.ts',
    'write-stream.ts',
    'relay-request.ts',
    'relay-answer.ts',
    'relay-stream.ts',
    'usage.ts',
    'stop.ts',
    'errors.ts',
    'shared-credential.ts',
    'field-verdicts.ts',
    'index.ts',
  ]) {
    assert.ok(shared.includes(name), `${name} is missing in a format`);
  }
});

test('the tree is at most two folders deep', () => {
  assert.deepEqual(
    files.filter((file) => file.split('/').length > 3),
    [],
  );
});

test('the one-screen files are one screen', () => {
  for (const file of ['server/routes.ts', 'app.ts', 'gateway/run.ts', 'canonical/event.ts']) {
    const lines = readFileSync(join(source, file), 'utf8').split('\n').length;
    assert.ok(lines <= 130, `src/${file} has ${lines} lines`);
  }
});
