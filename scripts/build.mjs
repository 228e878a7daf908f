// Bundles the server: a few files are read at a start where node_modules has more than a thousand, so a start takes a third of the time.
// Each build has a folder of its own in `dist/`, and `dist/current` leads to the newest: a server that is starting, or that loads a part
// of itself later, finds the files it was built with. Run by `setup.mjs`, under the pinned Node; the argument names the build.
import { existsSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const name = process.argv[2];
/** Older ones may still be running. */
const buildsKept = 3;

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
point('current', name);
removeOldBuilds();

/** In one step, so that there is always one. */
function point(link, target) {
  const unfinished = join(dist, `${link}.new`);
  rmSync(unfinished, { force: true });
  symlinkSync(target, unfinished);
  renameSync(unfinished, join(dist, link));
}

function removeOldBuilds() {
  const builds = readdirSync(dist).filter((entry) => existsSync(join(dist, entry, 'main.js')) && entry !== 'current');
  const newestFirst = builds.toSorted((one, other) => statSync(join(dist, other)).mtimeMs - statSync(join(dist, one)).mtimeMs);
  for (const old of newestFirst.slice(buildsKept)) if (old !== name) rmSync(join(dist, old), { recursive: true, force: true });
}
