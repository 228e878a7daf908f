// Builds what `npm pack` puts into the package: a copy of the newest build, because npm leaves links
// out. Run by `npm pack`.
import { cpSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setUp } from './setup.mjs';

setUp({ dev: false });
const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist');
const folder = join(dist, 'package');
rmSync(folder, { recursive: true, force: true });
cpSync(realpathSync(join(dist, 'current')), folder, {
  recursive: true,
  dereference: true,
  filter: (source) => basename(source) !== '.compile-cache',
});
