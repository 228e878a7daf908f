// A release is made of the sources as they are now, made again elsewhere, installed in an empty
// folder, and started. Needs git, npm and its registry.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, globSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { root } from '../../support/built-program.ts';
import { startProgram } from '../../support/program.ts';
import { ReleaseRepository } from '../../support/release.ts';
import { until } from '../../support/until.ts';

type LockedPackage = {
  readonly dev?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
type Lock = { readonly packages: Readonly<Record<string, LockedPackage>> };
type Bill = {
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
  readonly components: readonly { readonly 'bom-ref': string; readonly name: string }[];
};

const version = '999.0.0';
const title = `tollgate-${version}`;
const files = [`${title}-source.tar.gz`, `${title}.cdx.json`, `${title}.tgz`];
/** Without Node. */
const mostInstalledMb = 120;

let repository: ReleaseRepository;
let output: string;
before(() => {
  repository = new ReleaseRepository();
  output = join(repository.folder, 'output');
});
after(() => repository.remove());

test('a release that must not be made stops with a clear error and changes nothing', () => {
  repository.setNews('- The gateway does something new.');
  repository.commitAll();
  const commits = repository.git('log', '--format=%H');
  const assertRefused = (reason: RegExp, newVersion = version) => {
    const state = () => repository.git('status', '--porcelain') + repository.git('diff');
    const changes = state();
    const { status, stderr } = repository.release(newVersion, output);
    assert.match(stderr, reason);
    assert.equal(status, 1);
    assert.equal(state(), changes);
    assert.equal(repository.git('tag', '--list', `v${version}`), '');
    assert.equal(existsSync(output), false);
  };

  assertRefused(/name the new version/, 'new');
  assertRefused(/0\.0\.1 is older than the current version/, '0.0.1');
  repository.git('tag', 'v998.0.0');
  assertRefused(/the tag v998\.0\.0 exists/, '998.0.0');
  repository.write('notes.txt', 'a file that no commit holds');
  assertRefused(/the tree has changes.*\n.*notes\.txt/);
  repository.git('clean', '--quiet', '--force');
  assert.equal(repository.git('log', '--format=%H'), commits);

  repository.setNews('### A heading without a line');
  repository.commitAll();
  assertRefused(/CHANGELOG\.md has no line under "Unreleased"/);
});

test('a release has its version everywhere, a commit, a tag and checked files', () => {
  repository.setNews('- The gateway does something new.');
  repository.commitAll();
  const { status, stderr } = repository.release(version, output);
  assert.equal(status, 0, stderr);
  assert.equal(repository.git('log', '-1', '--format=%s'), `release: ${version}\n`);
  assert.equal(
    repository.git('rev-parse', `v${version}^{commit}`),
    repository.git('rev-parse', 'HEAD'),
  );
  assert.equal(repository.git('status', '--porcelain'), '');
  const lock = JSON.parse(repository.read('package-lock.json')) as {
    version: string;
    packages: Record<string, { version: string }>;
  };
  assert.deepEqual([lock.version, lock.packages['']!.version], [version, version]);
  const versionIn = (file: string) => JSON.parse(repository.read(file)) as { version?: string };
  assert.equal(versionIn('package.json').version, version);
  assert.match(repository.read('docs/openapi.json'), /"version": "999\.0\.0"/);
  const chart = 'deploy/helm/tollgate/Chart.yaml';
  if (existsSync(join(root, chart))) {
    assert.match(repository.read(chart), /^version: "?999\.0\.0"?$/m);
    assert.match(repository.read(chart), /^appVersion: "?999\.0\.0"?$/m);
  }
  assert.match(
    repository.read('CHANGELOG.md'),
    /^## Unreleased\n\n## 999\.0\.0 \(\d{4}-\d\d-\d\d\)\n\n- The gateway does something new\.$/m,
  );
  const sums = files.map((file) => `${digest(join(output, file))}  ${file}\n`).join('');
  assert.equal(readFileSync(join(output, 'SHA256SUMS'), 'utf8'), sums);
});

test('a second build of the tag, in another folder and time zone, is the same byte for byte', () => {
  const again = join(repository.folder, 'again');
  repository.buildAgain(`v${version}`, 'in/another/folder', again);
  for (const file of [...files, 'SHA256SUMS'])
    assert.equal(digest(join(again, file)), digest(join(output, file)), file);
});

test('the bill of materials names what the product consists of, and nothing that only tests use', () => {
  const { metadata, components } = JSON.parse(
    readFileSync(join(output, `${title}.cdx.json`), 'utf8'),
  ) as Bill;
  assert.deepEqual([metadata.component.name, metadata.component.version], ['tollgate', version]);
  const names = new Set(components.map((component) => component['bom-ref'].replace(/@[^@]+$/, '')));
  const bundle = JSON.parse(repository.read('bundle/package.json')) as {
    dependencies: Record<string, string>;
  };
  const missing = ['sharp', ...Object.keys(bundle.dependencies)].filter((name) => !names.has(name));
  assert.deepEqual(missing, []);
  const { packages } = readLock();
  const { devDependencies } = JSON.parse(repository.read('package.json')) as {
    devDependencies: Record<string, string>;
  };
  const onlyInTests = Object.keys(devDependencies).filter(
    (name) => packages[`node_modules/${name}`]!.dev && names.has(name),
  );
  assert.deepEqual(onlyInTests, []);
});

test('the package has the built program and nothing else', () => {
  const unpacked = join(repository.folder, 'unpacked');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', join(output, `${title}.tgz`), '-C', unpacked]);
  const folder = join(unpacked, 'package');
  const found = filesIn(folder);
  const ownFiles = found.filter((file) => !file.startsWith('dist/package/'));
  assert.deepEqual(
    ownFiles,
    'LICENSE README.md bin/node.mjs bin/tollgate.mjs package.json'.split(' '),
  );

  const built = join(folder, 'dist', 'package');
  const code = filesIn(built).filter((file) => !/^(?:dashboard|docs)\//.test(file));
  assert.deepEqual(reachedFrom(built, entries).toSorted(), code);
  for (const [part, page] of [
    ['dashboard', 'index.html'],
    ['docs', 'guides/quick-start.html'],
  ] as const) {
    const parts = filesIn(join(built, part));
    assert.ok(parts.includes(page), `${part} has no ${page}`);
    const odd = parts.filter(
      (file) =>
        !/\.(?:html|md|txt|xml|ico|js|json|css|svg|png|webp|woff2)(?:\.br|\.gz)?$/.test(file) ||
        (/\.(?:br|gz)$/.test(file) && !parts.includes(file.replace(/\.(?:br|gz)$/, ''))),
    );
    assert.deepEqual(odd, []);
  }

  const places = [repository.folder, root];
  const telling = found.filter((file) => {
    const text = readFileSync(join(folder, file), 'latin1');
    return places.some((place) => text.includes(place));
  });
  assert.deepEqual(telling, [], 'these files name a folder of the build');
});

test('npx runs the package on a machine that has only Node and npm', async (context) => {
  const empty = join(repository.folder, 'empty');
  mkdirSync(empty);
  copyFileSync(join(output, `${title}.tgz`), join(empty, `${title}.tgz`));
  const program = await startProgram({
    argv: ['npx', '--yes', `./${title}.tgz`, 'serve'],
    cwd: empty,
    env: Object.fromEntries(Object.entries(repository.env).map(([name, value]) => [name, value!])),
  });
  try {
    const get = (path: string) => fetch(program.url + path, { headers: { accept: 'text/html' } });
    assert.equal((await get('/readyz')).status, 200);
    const page = await (await get('/')).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1];
    assert.ok(script, `the dashboard's page has no script:\n${page}`);
    assert.equal((await get(script)).status, 200);
    assert.match(await (await get('/docs/guides/quick-start')).text(), /<h1[^>]*>Quick start/);
    const answer = await fetch(`${program.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${program.firstTestKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: 'gpt-6-luna',
        messages: [{ role: 'user', content: 'Hello!' }],
      }),
    });
    assert.match(await answer.text(), /You said: Hello!/);

    const [installed] = globSync(join(repository.folder, 'npm-cache/_npx/*/node_modules'));
    assert.ok(installed, 'npx installed nothing');
    assertOnlyNeeded(installed);
    const megabytes = sizeInMb(installed);
    context.diagnostic(`installed: ${megabytes.toFixed(1)} MB without Node`);
    assert.ok(megabytes < mostInstalledMb, `${megabytes} MB`);

    // As Ctrl-C in a terminal. npx may end before the server.
    await program.signalGroup('SIGINT');
    await until(() => program.output.includes('"msg":"stopped"'));
  } finally {
    await program.stop();
  }
});

const entries = ['main.js', 'ledger-worker.js', 'http-thread.js', 'look-thread.js'];
function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function readLock(): Lock {
  return JSON.parse(repository.read('package-lock.json')) as Lock;
}

/** Paths of all files from the folder, in order. */
function filesIn(folder: string): string[] {
  return globSync('**', { cwd: folder })
    .filter((file) => lstatSync(join(folder, file)).isFile())
    .toSorted();
}

/** The files that the entries import, directly or not. Fails if one is missing. */
function reachedFrom(folder: string, start: readonly string[]): string[] {
  const reached = new Set(start);
  // Iterating a set also visits elements added meanwhile.
  for (const file of reached) {
    const text = readFileSync(join(folder, file), 'utf8');
    // Comments name files of the packages' sources.
    const code = text.replaceAll(/^\s*(?:\*|\/[/*]).*$/gm, '');
    for (const [, target] of code.matchAll(/(?:\bfrom |\bimport\(|^import )"\.\/([\w.-]+\.js)"/gm))
      reached.add(target!);
  }
  return [...reached];
}

/** Every installed package is one that package.json asks for, or that such a package asks for. */
function assertOnlyNeeded(modules: string): void {
  const { packages } = readLock();
  const needed = new Set<string>();
  const add = ({ dependencies, optionalDependencies }: LockedPackage): void => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (needed.has(name)) continue;
      needed.add(name);
      add(packages[`node_modules/${name}`] ?? {});
    }
  };
  add(packages['']!);
  const installed = globSync('{*,@*/*}/package.json', { cwd: modules }).map(dirname);
  assert.ok(installed.includes('tollgate') && installed.includes('sharp'), installed.join());
  const more = installed.filter((name) => name !== 'tollgate' && !needed.has(name));
  assert.deepEqual(more, []);
}

function sizeInMb(modules: string): number {
  const bytes = filesIn(modules)
    .filter((file) => !/^node-[^/]+\//.test(file))
    .reduce((sum, file) => sum + lstatSync(join(modules, file)).size, 0);
  return bytes / 1e6;
}
