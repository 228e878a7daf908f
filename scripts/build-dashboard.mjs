// Builds the web app.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { compress } from './compress.mjs';

/**
 * Writes `index.html`, `manifest.json` and `assets/` into `folder`. Names in `assets/` change with
 * their content.
 */
export async function buildFiles(source, folder) {
  rmSync(folder, { recursive: true, force: true });
  await build({
    configFile: join(source, 'vite.config.ts'),
    logLevel: 'warn',
    mode: 'production',
    build: { outDir: folder, emptyOutDir: true },
  });
  const assets = join(folder, 'assets');
  const names = readdirSync(assets).filter((name) => /\.(?:js|css|svg)$/.test(name));
  await Promise.all(names.map((name) => compress(join(assets, name))));
}
