// Bundles the server and the dashboard, and makes the documentation. A start then reads a few files
// instead of more than a thousand from node_modules, in a third of the time. Each build has its own
// folder in `dist/`, and `dist/current` links to the newest: a server that is starting, or that
// loads code later, finds the files it was built with. Run by `setup.mjs` with the pinned Node. The
// arguments name the build, its dashboard and its documentation. The last two are rebuilt only when
// they have changed.
import {
  existsSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { compress } from './compress.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const [name, dashboardName, docsName] = process.argv.slice(2);
/** Folders that a build links to, with the code that fills them. */
const parts = [
  { link: 'dashboard', folder: dashboardName, buildInto: buildDashboard },
  { link: 'docs', folder: docsName, buildInto: buildDocs },
];
/** Older builds may still be running. */
const buildsKept = 3;
/** The link to the newest build, and the copy that `npm pack` takes. */
const notBuilds = new Set(['current', 'package']);

await Promise.all([buildServer(), ...parts.map(buildPart)]);
for (const { link, folder } of parts) replaceLink(join(name, link), join('..', folder));
replaceLink('current', name);
removeOldBuilds();

async function buildServer() {
  const bundle = await rolldown({
    input: {
      main: join(root, 'src/main.ts'),
      // Threads are started by file name, which the bundler cannot see.
      'ledger-worker': join(root, 'src/domain/ledger/sqlite/worker.ts'),
      'http-thread': join(root, 'src/threads/http-thread.ts'),
      'look-thread': join(root, 'src/domain/ledger/seals/look-thread.ts'),
    },
    platform: 'node',
    external: [
      // Native: it finds its own files. Loaded only when the sandbox draws an image.
      'sharp',
      // Fastify would load these for its schemas and for `inject`, which the server does not use.
      '@fastify/ajv-compiler',
      '@fastify/fast-json-stringify-compiler',
      'light-my-request',
    ],
  });
  await bundle.write({
    dir: join(dist, name),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    // Each thread keeps the text of its files: two bytes a character unless all of them are ASCII.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
    plugins: [{ name: 'ascii-notices', renderChunk: asciiNotices }],
  });
  await bundle.close();
}

/** Removes accents from names in licence notices, which `charset` leaves as they are. */
function asciiNotices(code) {
  return code.replace(/\/\*![^*]*\*\//g, (notice) =>
    notice.normalize('NFD').replace(/[^\0-\x7f]/g, ''),
  );
}

/** Built under a temporary name: a folder with the final name is complete. */
async function buildPart({ folder, buildInto }) {
  if (existsSync(join(dist, folder))) return;
  const unfinished = join(dist, `${folder}.new`);
  await buildInto(unfinished);
  renameSync(unfinished, join(dist, folder));
}

async function buildDashboard(folder) {
  const { buildFiles } = await import('./build-dashboard.mjs');
  await buildFiles(join(root, 'dashboard'), folder);
}

async function buildDocs(folder) {
  const { buildSite } = await import('../docs-site/build.ts');
  await buildSite(folder);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const texts = files.filter((file) => /\.(?:html|js|json|css|svg)$/.test(file));
  await Promise.all(texts.map((file) => compress(join(folder, file))));
}

/** Replaces a link atomically, so that it always exists. */
function replaceLink(link, target) {
  const unfinished = join(dist, `${link}.new`);
  rmSync(unfinished, { force: true });
  symlinkSync(target, unfinished);
  renameSync(unfinished, join(dist, link));
}

function removeOldBuilds() {
  const entries = readdirSync(dist).filter((entry) => !notBuilds.has(entry));
  const builds = entries.filter((entry) => existsSync(join(dist, entry, 'main.js')));
  const newestFirst = builds.toSorted(
    (one, other) => statSync(join(dist, other)).mtimeMs - statSync(join(dist, one)).mtimeMs,
  );
  const kept = newestFirst.filter((build, index) => index < buildsKept || build === name);
  const linked = new Set(kept.flatMap(partsOf));
  const isOld = (entry) =>
    (builds.includes(entry) && !kept.includes(entry)) || (isPart(entry) && !linked.has(entry));
  for (const old of entries.filter(isOld))
    rmSync(join(dist, old), { recursive: true, force: true });
}

function isPart(entry) {
  return /^(?:dashboard|docs)-[0-9a-f]+$/.test(entry);
}

/** A build from before a part existed has no link to it. */
function partsOf(build) {
  const links = parts.map(({ link }) => join(dist, build, link));
  return links.filter((link) => existsSync(link)).map((link) => basename(readlinkSync(link)));
}
