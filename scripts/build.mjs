// Bundles the server and the dashboard. A start then reads a few files instead of more than a
// thousand from node_modules, in a third of the time. Each build has its own folder in `dist/`, and
// `dist/current` links to the newest: a server that is starting, or that loads code later, finds
// the files it was built with. Run by `setup.mjs` with the pinned Node. The arguments name the
// build and its dashboard, which is rebuilt only when it has changed.
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

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const [name, dashboardName] = process.argv.slice(2);
/** Older builds may still be running. */
const buildsKept = 3;

await Promise.all([buildServer(), existsSync(join(dist, dashboardName)) ? null : buildDashboard()]);
replaceLink(join(name, 'dashboard'), join('..', dashboardName));
replaceLink('current', name);
removeOldBuilds();

async function buildServer() {
  const bundle = await rolldown({
    input: {
      main: join(root, 'src/main.ts'),
      // Threads are started by file name, which the bundler cannot see.
      'ledger-worker': join(root, 'src/domain/ledger/sqlite/worker.ts'),
    },
    platform: 'node',
    // Native: it finds its own files. Loaded only when the sandbox draws an image.
    external: ['sharp'],
  });
  await bundle.write({
    dir: join(dist, name),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  });
  await bundle.close();
}

/** Built under a temporary name: a folder with the final name is complete. */
async function buildDashboard() {
  const { buildFiles } = await import('./build-dashboard.mjs');
  const unfinished = join(dist, `${dashboardName}.new`);
  await buildFiles(join(root, 'dashboard'), unfinished);
  renameSync(unfinished, join(dist, dashboardName));
}

/** Replaces a link atomically, so that it always exists. */
function replaceLink(link, target) {
  const unfinished = join(dist, `${link}.new`);
  rmSync(unfinished, { force: true });
  symlinkSync(target, unfinished);
  renameSync(unfinished, join(dist, link));
}

function removeOldBuilds() {
  const entries = readdirSync(dist).filter((entry) => entry !== 'current');
  const builds = entries.filter((entry) => existsSync(join(dist, entry, 'main.js')));
  const newestFirst = builds.toSorted(
    (one, other) => statSync(join(dist, other)).mtimeMs - statSync(join(dist, one)).mtimeMs,
  );
  const kept = newestFirst.filter((build, index) => index < buildsKept || build === name);
  const dashboards = new Set(kept.map(dashboardOf));
  const isOld = (entry) =>
    (builds.includes(entry) && !kept.includes(entry)) ||
    (isDashboard(entry) && !dashboards.has(entry));
  for (const old of entries.filter(isOld))
    rmSync(join(dist, old), { recursive: true, force: true });
}

function isDashboard(entry) {
  return /^dashboard-[0-9a-f]+$/.test(entry);
}

/** null for a build from before there were dashboards. */
function dashboardOf(build) {
  const link = join(dist, build, 'dashboard');
  return existsSync(link) ? basename(readlinkSync(link)) : null;
}
