// Bundles the server and the dashboard: a few files are read at a start where node_modules has more than a thousand, so a start takes a
// third of the time. Each build has a folder of its own in `dist/`, and `dist/current` leads to the newest: a server that is starting, or
// that loads a part of itself later, finds the files it was built with. Run by `setup.mjs`, under the pinned Node; the arguments name the
// build and, within it, the dashboard, which is built again only when it has changed.
import { existsSync, readdirSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const [name, dashboardName] = process.argv.slice(2);
/** Older ones may still be running. */
const buildsKept = 3;

await Promise.all([buildServer(), existsSync(join(dist, dashboardName)) ? null : buildDashboard()]);
point(join(name, 'dashboard'), join('..', dashboardName));
point('current', name);
removeOldBuilds();

async function buildServer() {
  const bundle = await rolldown({
    input: {
      main: join(root, 'src/main.ts'),
      // Threads are started by file name, which no import shows.
      'sqlite-worker': join(root, 'src/ledger/sqlite-worker.ts'),
    },
    platform: 'node',
    // Native: it finds its own files, and is loaded only when the sandbox draws.
    external: ['sharp'],
  });
  await bundle.write({ dir: join(dist, name), format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' });
  await bundle.close();
}

/** Under another name first: what has its name is whole. */
async function buildDashboard() {
  const { buildFiles } = await import('./build-dashboard.mjs');
  const unfinished = join(dist, `${dashboardName}.new`);
  await buildFiles(join(root, 'dashboard'), unfinished);
  renameSync(unfinished, join(dist, dashboardName));
}

/** In one step, so that there is always one. */
function point(link, target) {
  const unfinished = join(dist, `${link}.new`);
  rmSync(unfinished, { force: true });
  symlinkSync(target, unfinished);
  renameSync(unfinished, join(dist, link));
}

function removeOldBuilds() {
  const entries = readdirSync(dist).filter((entry) => entry !== 'current');
  const builds = entries.filter((entry) => existsSync(join(dist, entry, 'main.js')));
  const newestFirst = builds.toSorted((one, other) => statSync(join(dist, other)).mtimeMs - statSync(join(dist, one)).mtimeMs);
  const kept = newestFirst.filter((build, place) => place < buildsKept || build === name);
  const dashboards = new Set(kept.map(dashboardOf));
  const isOld = (entry) => (builds.includes(entry) && !kept.includes(entry)) || (isDashboard(entry) && !dashboards.has(entry));
  for (const old of entries.filter(isOld)) rmSync(join(dist, old), { recursive: true, force: true });
}

function isDashboard(entry) {
  return /^dashboard-[0-9a-f]+$/.test(entry);
}

/** null: of a build from before there was one. */
function dashboardOf(build) {
  const link = join(dist, build, 'dashboard');
  return existsSync(link) ? basename(readlinkSync(link)) : null;
}
