// Enforces the layout of ARCHITECTURE.md: who may import whom, and which parts do no input or
// output.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { readBuiltInCatalog } from '../src/domain/catalog/load-catalog.ts';
import { clientFormats, upstreamFormats } from '../src/formats/registry.ts';

const root = join(import.meta.dirname, '..');
const source = join(root, 'src');
/**
 * Each part of `src/` and the parts it may import beside itself. Parts of `domain/` do not import
 * one another.
 */
const allowed: Readonly<Record<string, string>> = {
  'main.ts': 'cli',
  'first-start.ts': 'management/changes domain db lib',
  'app.ts': 'serving.ts threads first-start.ts gateway domain config db lib',
  'serving.ts': 'threads server management gateway domain events terms canonical config db lib',
  threads: 'app.ts serving.ts first-start.ts server gateway domain config db lib',
  cli: 'app.ts threads reference gateway management/changes domain terms canonical config db lib',
  management:
    'events server gateway formats management/changes domain management/contract terms canonical config db lib',
  'management/changes': 'domain terms canonical config db lib',
  server: 'events reference gateway formats domain terms canonical config db lib',
  reference: 'formats domain management/contract terms canonical config lib',
  gateway: 'events formats providers domain terms canonical config lib',
  providers: 'formats terms canonical lib',
  formats: 'terms canonical lib',
  'management/contract': 'terms canonical lib',
  domain: 'events terms canonical config db lib',
  config: 'terms canonical lib',
  db: 'lib',
  events: 'terms canonical lib',
  terms: 'canonical lib',
  canonical: 'lib',
  lib: '',
};

/** Node modules and packages that pure parts may use. None of them reads or writes anything. */
const pureImports = [
  'lru-cache',
  'typebox',
  'node:assert/strict',
  'node:string_decoder',
  'node:crypto',
];

type Import = { readonly file: string; readonly specifier: string };

const isTest = (file: string) => file.endsWith('.test.ts');
const everyFile = globSync('**/*.ts', { cwd: source, exclude: ['**/*.d.ts'] });
const files = everyFile.filter((file) => !isTest(file));

/** Entry files, which start a process or a thread; nothing imports them. */
const entries = [
  'main.ts',
  'domain/ledger/sqlite/worker.ts',
  'domain/ledger/seals/look-thread.ts',
  'threads/http-thread.ts',
];

function importsOf(file: string): Import[] {
  return importsIn(readFileSync(join(source, file), 'utf8'), file);
}

function importsIn(text: string, file: string): Import[] {
  const found = text.matchAll(
    /^\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'|^import\s+'([^']+)'|new URL\('(\.[^']+)'/gm,
  );
  return [...found].map((match) => ({
    file,
    specifier: match[1] ?? match[2] ?? match[3] ?? match[4]!,
  }));
}

/**
 * Returns the files that a file imports, as paths from `src/`, without packages and Node modules.
 */
function importedFiles(file: string): string[] {
  const specifiers = importsOf(file).map(({ specifier }) => specifier);
  return specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => join(dirname(file), specifier));
}

/** Returns `a.ts imports b.ts` for each import that is not allowed. */
function importsExcept(file: string, isAllowed: (target: string) => boolean): string[] {
  const breaches = importedFiles(file).filter((target) => !isAllowed(target));
  return breaches.map((target) => `${file} imports ${target}`);
}

/** Returns each cycle as `a.ts → b.ts → a.ts`. */
function cyclesIn(targets: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    else if (!done.has(file)) {
      for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    }
  };
  for (const file of targets.keys()) visit(file, []);
  return cycles;
}

/** The folder in the table: `management/contract` for a file in it, else the first one. */
function partOf(file: string): string {
  const [first, second] = file.split('/') as [string, string | undefined];
  const inner = `${first}/${second}`;
  return Object.hasOwn(allowed, inner) ? inner : first;
}

test('every import is allowed by the table', () => {
  const breaches = files.flatMap((file) => {
    const from = partOf(file);
    assert.ok(allowed[from] !== undefined, `src/${from} is not in the table`);
    return importsExcept(
      file,
      (target) =>
        target.startsWith('..') || [from, ...allowed[from]!.split(' ')].includes(partOf(target)),
    );
  });
  assert.deepEqual(breaches, []);
});

test('the gateway stands in layers', () => {
  const layers = [
    'requests, clients and what all use',
    'calling',
    'search',
    'routing',
    'images',
    'limits',
    'charging',
    'gateway.ts',
    'stages.ts',
    'replaying',
    'admission',
    'answering',
    'models',
    'sales',
    'tasks',
    'content.ts',
    'run.ts',
    'batches',
  ];
  /** Any other file that stands in no folder belongs to the lowest layer. */
  const layerOf = (file: string) =>
    Math.max(layers.indexOf(/^gateway\/([\w.-]+)/.exec(file)![1]!), 0);
  const upward = files
    .filter((file) => partOf(file) === 'gateway')
    .flatMap((file) =>
      importsExcept(
        file,
        (target) => partOf(target) !== 'gateway' || layerOf(target) <= layerOf(file),
      ),
    );
  assert.deepEqual(upward, [], `each may import those before it: ${layers.join(', ')}`);
});

test('the parts of domain/ do not import one another', () => {
  const partOfDomain = (file: string) => file.split('/')[1];
  const breaches = files
    .filter((file) => partOf(file) === 'domain')
    .flatMap((file) =>
      importsExcept(
        file,
        (target) => partOf(target) !== 'domain' || partOfDomain(target) === partOfDomain(file),
      ),
    );
  assert.deepEqual(breaches, []);
});

test('production code imports only the catalogue and package.json from outside src/', () => {
  const isAllowed = (target: string) =>
    !target.startsWith('..') || /^\.\.\/(?:catalog\/.*|package)\.json$/.test(target);
  assert.deepEqual(
    files.flatMap((file) => importsExcept(file, isAllowed)),
    [],
  );
});

test('unit tests import only tests/support/ from tests/', () => {
  const isAllowed = (target: string) =>
    !target.startsWith('../tests/') || target.startsWith('../tests/support/');
  assert.deepEqual(
    everyFile.flatMap((file) => importsExcept(file, isAllowed)),
    [],
  );
});

test('every file of src/ that is not a test is imported, directly or not, by an entry file', () => {
  const reached = new Set(entries);
  // Iterating a set also visits elements added meanwhile.
  for (const file of reached)
    for (const target of importedFiles(file)) if (files.includes(target)) reached.add(target);
  const unreached = files.filter((file) => !reached.has(file));
  assert.deepEqual(unreached, [], 'code that only tests import belongs in tests/support/');
});

test('the ledger’s thread loads no package, because each gateway waits for its start', () => {
  const loaded = new Set(['domain/ledger/sqlite/worker.ts']);
  const packages = new Set<string>();
  for (const file of loaded) {
    const types = /^import type [^;]*;/gm;
    const values = readFileSync(join(source, file), 'utf8').replace(types, '');
    for (const { specifier } of importsIn(values, file)) {
      if (specifier.startsWith('.')) loaded.add(join(dirname(file), specifier));
      else if (!specifier.startsWith('node:')) packages.add(`${file} imports ${specifier}`);
    }
  }
  assert.deepEqual([...packages], []);
});

const dashboard = join(root, 'dashboard');

/** The dashboard's imports of its own files and of `src/`, with paths from the repository's root. */
const dashboardImports = globSync('**/*.{ts,tsx}', { cwd: dashboard }).flatMap((file) => {
  const text = readFileSync(join(dashboard, file), 'utf8');
  const imports = text.matchAll(
    /^(?:import|export)\b(?<what>[^'";]*?)from\s+'(?<from>\.[^']+)'|import\('(?<lazy>\.[^']+)'/gm,
  );
  return [...imports].map(({ groups }) => ({
    file: `dashboard/${file}`,
    target: relative(root, join(dashboard, dirname(file), groups!.from ?? groups!.lazy!)),
    isType: groups!.what?.trimStart().startsWith('type ') === true,
  }));
});

test('the dashboard imports only the contract types from src/, and the schema of the configuration', () => {
  const breaches = dashboardImports.filter(
    ({ target, isType }) =>
      !target.startsWith('dashboard/') &&
      target !== 'docs/config.schema.json' &&
      !(isType && target.startsWith('src/management/contract/')),
  );
  assert.deepEqual(breaches, []);
});

test('the dashboard’s folders import downwards only: app, pages, parts, api; no page imports another, but the operator’s page of an account shows that account’s', () => {
  const allowedImports: Readonly<Record<string, readonly string[]>> = {
    api: [],
    parts: ['api'],
    pages: ['api', 'parts'],
  };
  /** `api`, `parts`, `app`, or `pages/keys`. */
  const folderOf = (path: string) => /^dashboard\/(pages\/[^/]+|[^/]+)/.exec(path)![1]!;
  const breaches = dashboardImports.filter(({ file, target }) => {
    const [from, to] = [folderOf(file), target.startsWith('dashboard/') ? folderOf(target) : null];
    if (to === null || from === to || from === 'app') return false;
    if (file === 'dashboard/pages/operator/account/page.tsx' && to.startsWith('pages/'))
      return false;
    return !allowedImports[from.split('/')[0]!]!.includes(to);
  });
  assert.deepEqual(breaches, []);
});

test('there are no import cycles, types included', () => {
  const sourceTargets = new Map(files.map((file) => [file, importedFiles(file)]));
  assert.deepEqual(cyclesIn(sourceTargets), []);
  const dashboardFiles = Map.groupBy(dashboardImports, ({ file }) => file);
  const dashboardTargets = new Map(
    [...dashboardFiles].map(([file, imports]) => [file, imports.map(({ target }) => target)]),
  );
  assert.deepEqual(cyclesIn(dashboardTargets), []);
});

test('formats, reference, events, terms and canonical do no input or output', () => {
  const breaches = files
    .filter((file) =>
      ['formats', 'reference', 'events', 'terms', 'canonical'].includes(partOf(file)),
    )
    .filter((file) => !entries.includes(file))
    .flatMap(importsOf)
    .filter(({ specifier }) => !specifier.startsWith('.') && !pureImports.includes(specifier));
  assert.deepEqual(breaches, []);
});

test('only lib/clock.ts reads the system clock', () => {
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

test('what manages accounts changes only by these files what the audit log does not record', () => {
  // The compiler refuses writes to the database that a handler has (management/context.ts).
  const writers = files.filter(
    (file) =>
      file.startsWith('management/') &&
      /\bunrecorded\b/.test(readFileSync(join(source, file), 'utf8')),
  );
  assert.deepEqual(writers.toSorted(), [
    'management/accounts/billing.ts',
    'management/changes/accounts.ts',
    'management/changes/balances.ts',
    'management/changes/imports.ts',
    'management/changes/secrets.ts',
    'management/once.ts',
    'management/sign-in/auth.ts',
    'management/sign-in/device-logins.ts',
    'management/sign-in/links.ts',
  ]);
});

test('no wire format imports another', () => {
  const isWire = (file: string) =>
    Object.keys({ ...clientFormats, ...upstreamFormats }).includes(file.split('/')[1]!);
  const breaches = files
    .filter(isWire)
    .flatMap((file) =>
      importsExcept(file, (target) => !isWire(target) || dirname(target) === dirname(file)),
    );
  assert.deepEqual(breaches, []);
});

test('wire formats hold the same files', () => {
  const ofUpstreams =
    'errors.ts index.ts read-answer.ts read-stream.ts stop.ts usage.ts write-request.ts';
  const ofClients =
    `${ofUpstreams} field-verdicts.ts parse-request.ts read-request.ts relay-answer.ts relay-request.ts ` +
    'relay-stream.ts schema.ts shared-credential.ts write-answer.ts write-stream.ts';
  const missing = Object.entries({ ...upstreamFormats, ...clientFormats }).flatMap(([name]) =>
    (Object.hasOwn(clientFormats, name) ? ofClients : ofUpstreams)
      .split(' ')
      .map((file) => `formats/${name}/${file}`)
      .filter((file) => !files.includes(file)),
  );
  assert.deepEqual(missing, []);
});

/** Parts that only one database has, and why. */
const ofOneDialect = new Map([
  ['db/sqlite/backup.ts', 'PostgreSQL has tools of its own'],
  ['db/sqlite/serving.ts', 'several gateways can serve one PostgreSQL database'],
  ['db/postgres/pool.ts', 'a SQLite file needs no pool of connections'],
  ['domain/ledger/sqlite/kept-rows.ts', 'on PostgreSQL other gateways write the same rows'],
  ['domain/ledger/sqlite/worker.ts', 'a statement of SQLite blocks its thread'],
  ['domain/ledger/sqlite/worker-runner.ts', 'for the same reason'],
  [
    'domain/ledger/postgres/batch-ids.ts',
    'on SQLite a query costs no round trip, so each row has one',
  ],
]);
const isOfDialect = /(?<=\/)(sqlite|postgres)(?=\/)/;
const dialectFiles = files.filter((file) => isOfDialect.test(file));

test('no folder of a database imports the other’s', () => {
  const dialectOf = (file: string) => isOfDialect.exec(file)?.[0];
  const breaches = dialectFiles.flatMap((file) =>
    importsExcept(file, (target) => [undefined, dialectOf(file)].includes(dialectOf(target))),
  );
  assert.deepEqual(breaches, []);
});

test('the folders of both databases hold the same files, except what only one has', () => {
  const otherOf = (file: string) =>
    file.replace(isOfDialect, (dialect) => (dialect === 'sqlite' ? 'postgres' : 'sqlite'));
  const alone = dialectFiles.filter((file) => !files.includes(otherOf(file)));
  assert.deepEqual(alone.toSorted(), [...ofOneDialect.keys()].toSorted());
});

test('the tree is at most three folders deep', () => {
  assert.deepEqual(
    files.filter((file) => file.split('/').length > 4),
    [],
  );
});

test('the files that list everything stay short', () => {
  const linesMax = {
    'server/routes.ts': 150,
    'app.ts': 80,
    'serving.ts': 260,
    'gateway/run.ts': 60,
    'canonical/event.ts': 75,
  };
  for (const [file, max] of Object.entries(linesMax)) {
    const lines = readFileSync(join(source, file), 'utf8').split('\n').length;
    assert.ok(lines <= max, `src/${file} has ${lines} lines`);
  }
});

test('the documents name files that exist', () => {
  const folders = '{src,tests,bench,dashboard,docs-site,scripts}';
  const paths = globSync(`${folders}/**/*.{ts,tsx,mjs}`, {
    cwd: root,
    exclude: ['**/node_modules/**'],
  });
  const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: root });
  const named = documents.flatMap((document) =>
    Array.from(
      readFileSync(join(root, document), 'utf8').matchAll(
        /(?<![<\w/*}-])[\w-]+(?:\/[\w-]+)+\.tsx?\b/g,
      ),
      ([path]) => ({ document, path }),
    ),
  );
  assert.ok(named.length > 100);
  const missing = named.filter(
    ({ path }) => !paths.some((one) => one === path || one.endsWith(`/${path}`)),
  );
  assert.deepEqual(missing, []);
});

test('no text names a model that ends within half a year of the catalogue', () => {
  const { as_of: asOf, models } = readBuiltInCatalog();
  const halfAYearMs = 183 * 24 * 60 * 60 * 1_000;
  const ids = models.flatMap(({ id, retires_at: day }) =>
    day !== undefined && Date.parse(day) < Date.parse(asOf) + halfAYearMs ? [id] : [],
  );
  assert.ok(ids.length > 0);
  const escaped = ids.map((id) => id.replaceAll('.', '\\.')).join('|');
  const ending = new RegExp(
    `(?<![\\w.-])(?:${escaped})(?:-20\\d{2}-?\\d{2}-?\\d{2})?(?![\\w-]|\\.\\d)`,
  );
  assert.match('{"model": "gpt-5"}', ending);
  assert.doesNotMatch('gpt-5.2, gpt-5-other', ending);
  const texts = globSync(
    [
      '{README,ARCHITECTURE}.md',
      '{docs,deploy}/**/*.{md,json,yaml,yml,txt,sh}',
      '{src,dashboard,docs-site,bench,bin,scripts}/**/*.{ts,tsx,mjs,json,md}',
    ],
    { cwd: root },
  ).filter((file) => !file.endsWith('.test.ts'));
  assert.ok(texts.length > 500);
  const found = texts.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        ending.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
  assert.deepEqual(found, []);
});
