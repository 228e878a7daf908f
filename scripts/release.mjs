// `npm run release -- <version> [<folder>]`: makes a release of the clean tree: sets the version,
// closes the changelog's section, commits, tags, and writes the files to publish into the folder
// (default: `release/`). Pushes and publishes nothing. docs/releasing.md has the steps.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const [version, folder = join(root, 'release')] = process.argv.slice(2);
/** Each file that holds the version, and the lines that do. */
const holders = [
  { file: 'package.json', lines: /^  "version": "(.+)"/m },
  { file: 'package-lock.json', lines: /^(?:  |      )"name": "tollgate",\n +"version": "(.+)"/gm },
  { file: 'docs/openapi.json', lines: /^    "version": "(.+)"/m },
  { file: 'deploy/helm/tollgate/Chart.yaml', lines: /^(?:version|appVersion): "?([^"\n]+)"?/gm },
];

try {
  check();
  setVersion();
  closeChangelog();
  git('add', '--all');
  git('commit', '--quiet', '--message', `release: ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Tollgate ${version}`);
  build();
  console.log(`Tollgate ${version} is committed and tagged. Its files are in ${resolve(folder)}.`);
  console.log(`To publish: git push --atomic origin HEAD v${version}, and docs/releasing.md.`);
} catch (error) {
  console.error(`Tollgate: ${error.message}`);
  process.exitCode = 1;
}

function check() {
  if (!/^\d+\.\d+\.\d+(?:-[0-9a-z.-]+)?$/.test(version ?? ''))
    throw new Error('name the new version, such as: npm run release -- 1.2.3');
  const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // The first release may have the version that is already there.
  if (isNewer(current, version))
    throw new Error(`${version} is older than the current version, ${current}.`);
  const changes = git('status', '--porcelain');
  if (changes !== '')
    throw new Error(`the tree has changes. Commit or remove them:\n${changes.trimEnd()}`);
  if (git('tag', '--list', `v${version}`) !== '') throw new Error(`the tag v${version} exists.`);
  if (!/^- /m.test(unreleased()))
    throw new Error('CHANGELOG.md has no line under "Unreleased". Write what operators notice.');
}

/** A release follows its pre-releases. Parts that are numbers are compared as such. */
function isNewer(one, other) {
  const [oneCore, onePre] = parts(one);
  const [otherCore, otherPre] = parts(other);
  const order = compare(oneCore, otherCore);
  if (order !== 0) return order > 0;
  if (!onePre || !otherPre) return !onePre && Boolean(otherPre);
  return compare(onePre, otherPre) > 0;
}

function parts(text) {
  const [, core, pre] = /^([^-]+)(?:-(.+))?$/.exec(text);
  return [core, pre];
}

function compare(one, other) {
  return one.localeCompare(other, 'en', { numeric: true });
}

/** The text between the heading "Unreleased" and the next of its rank. */
function unreleased() {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  return /^## Unreleased\n(.*?)(?=^## |$(?![^]))/ms.exec(changelog)?.[1] ?? '';
}

function setVersion() {
  for (const { file, lines } of holders) {
    const path = join(root, file);
    if (!existsSync(path)) continue;
    const text = readFileSync(path, 'utf8');
    if (text.search(lines) < 0) throw new Error(`${file} has no version where one is expected.`);
    writeFileSync(
      path,
      text.replace(lines, (line, old) => line.replace(old, () => version)),
    );
  }
}

function closeChangelog() {
  const path = join(root, 'CHANGELOG.md');
  const today = new Date().toISOString().slice(0, 10);
  const text = readFileSync(path, 'utf8');
  const heading = `## Unreleased\n\n## ${version} (${today})\n`;
  writeFileSync(
    path,
    text.replace(/^## Unreleased\n/m, () => heading),
  );
}

/** Builds in a new clone of the tag, so that no file outside the commit gets in. */
function build() {
  const cloneTag = ['-c', 'advice.detachedHead=false', 'clone', '--quiet', '--branch'];
  const clone = mkdtempSync(join(tmpdir(), 'tollgate-release-'));
  try {
    git(...cloneTag, `v${version}`, root, clone);
    execFileSync(process.execPath, [join(clone, 'scripts', 'build-release.mjs'), resolve(folder)], {
      stdio: ['ignore', 2, 2],
    });
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
}

function git(...args) {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' });
}
