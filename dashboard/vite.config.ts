// Builds the web app, and serves it while it is worked on (`npm run dashboard`; the API is the gateway's on port 4000).
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const gateway = process.env.TOLLGATE_URL ?? 'http://127.0.0.1:4000';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [singleIcons(), react(), paintWhenStarted()],
  build: {
    // `scripts/build.mjs` says where; this is for a build by hand.
    outDir: join(import.meta.dirname, '..', 'dist', 'dashboard-by-hand'),
    emptyOutDir: true,
    // Files of their own, under names that a browser can keep.
    assetsInlineLimit: 0,
    manifest: 'manifest.json',
    reportCompressedSize: false,
    // The bound that holds is of what the first page loads, compressed; a test checks it.
    chunkSizeWarningLimit: 1_000,
    target: 'es2023',
  },
  server: { port: 4001, proxy: { '/dashboard-api': gateway, '/v1': gateway } },
});

/** The package of icons is one file that names six thousand others: reading them all takes longer than the rest of the build. */
function singleIcons(): Plugin {
  const imported = /import \{([^}]+)\} from '@tabler\/icons-react';/g;
  return {
    name: 'single-icons',
    apply: 'build',
    enforce: 'pre',
    transform: {
      filter: { id: /\/dashboard\/.*\.tsx?$/, code: /@tabler\/icons-react/ },
      handler: (code) =>
        code.replace(imported, (_whole, names: string) =>
          names
            .split(',')
            .map((name) => name.trim())
            .filter((name) => name.startsWith('Icon'))
            .map((name) => `import ${name} from '@tabler/icons-react/dist/esm/icons/${name}.mjs';`)
            .join(' '),
        ),
    },
  };
}

/** Nothing is shown until the script has chosen light or dark: no flash of the other. */
function paintWhenStarted(): Plugin {
  return {
    name: 'paint-when-started',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
    },
  };
}
