// Builds the web app, and serves it during development (`npm run dashboard`, with a gateway on port
// 4000).
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The code of `app/start.ts`, which must not wait for the app. */
const startCode = /\/dashboard\/(?:app\/start|api\/(?:early-requests|choose-account))\.ts$/;

const gateway = process.env.TOLLGATE_URL ?? 'http://127.0.0.1:4000';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [singleIcons(), react(), paintWhenStarted(), startFirst()],
  build: {
    // Only for manual builds: `scripts/build.mjs` sets its own folder.
    outDir: join(import.meta.dirname, '..', 'dist', 'dashboard-by-hand'),
    rolldownOptions: {
      input: {
        index: join(import.meta.dirname, 'index.html'),
        start: join(import.meta.dirname, 'app/start.ts'),
      },
      output: {
        // One file for what many pages share: each file costs a round trip on a connection that has
        // six at a time.
        codeSplitting: {
          groups: [
            { name: 'start', test: startCode, priority: 1 },
            { name: 'app', minShareCount: 8 },
          ],
        },
      },
    },
    emptyOutDir: true,
    // No inlined assets: separate files can be cached.
    assetsInlineLimit: 0,
    // One file, loaded with the app: a page whose code loads again after a failure has its styles.
    cssCodeSplit: false,
    manifest: 'manifest.json',
    reportCompressedSize: false,
    // A test limits the compressed size of the first page instead.
    chunkSizeWarningLimit: 1_000,
    target: 'es2023',
  },
  server: { port: 4001, proxy: { '/dashboard-api': gateway, '/v1': gateway, '/docs': gateway } },
});

/** Imports each icon from its own file. The package's index imports six thousand files,
 * and reading them takes longer than the rest of the build. */
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

/**
 * Blocks rendering until the script has chosen light or dark, to avoid a flash of the wrong one.
 */
function paintWhenStarted(): Plugin {
  return {
    name: 'paint-when-started',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html) =>
        html.replace('<script type="module"', '<script type="module" blocking="render"'),
    },
  };
}

/**
 * Runs `app/start.ts` as soon as it has arrived: the app's own script waits for all its imports.
 * The session's answer, which it asks for, starts with the page.
 */
function startFirst(): Plugin {
  return {
    name: 'start-first',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle = {} }) => {
        const start = Object.values(bundle).find(({ name }) => name === 'start');
        if (!start) throw new Error('the build has no file for app/start.ts');
        return html.replace(/^.*modulepreload.*\/start-.*\n/m, '').replace(
          '<script type="module"',
          `<link rel="preload" as="fetch" crossorigin href="/dashboard-api/session">
    <script type="module" async crossorigin src="/${start.fileName}"></script>
    <script type="module"`,
        );
      },
    },
  };
}
