// Bundles the server into `dist/`: one file is read at a start where node_modules has more than a thousand, so a start takes a third of
// the time. Run by `setup.mjs`, under the pinned Node.
import { renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const unfinished = `${dist}.new`;

rmSync(unfinished, { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    main: join(root, 'src/main.ts'),
    // Threads are started by file name, which no import shows.
    'sqlite-worker': join(root, 'src/ledger/sqlite-worker.ts'),
  },
  platform: 'node',
});
await bundle.write({ dir: unfinished, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name].js' });
await bundle.close();
// A start meanwhile finds the old bundle whole.
rmSync(dist, { recursive: true, force: true });
renameSync(unfinished, dist);
