// Portkey's open gateway, from npm, on this Node. It forwards the client's key: keys and spending
// are parts of the hosted product.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, installOnce, runCommand } from '../side-by-side/cache.ts';
import { freePort, startProgram } from '../side-by-side/program.ts';
import { chatRequest } from '../side-by-side/requests.ts';
import type { Peer } from '../side-by-side/peer.ts';

const version = '1.15.2';
/** Later versions of its server, which its range allows, break its streams. */
const serverVersion = '1.13.8';
const folder = `portkey-${version}`;
const installed = join('node_modules', '@portkey-ai', 'gateway');

export const portkey: Peer = {
  name: 'portkey',
  features: { auth: 'none (forwards the key)', billing: 'none', log: 'none (headless)' },
  telemetry: 'none known; headless',
  install: () => {
    installOnce(folder, (target) => {
      const manifest = {
        private: true,
        dependencies: { '@portkey-ai/gateway': version },
        overrides: { '@hono/node-server': serverVersion },
      };
      writeFileSync(join(target, 'package.json'), JSON.stringify(manifest));
      runCommand(['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund'], target);
    });
    const manifest = readFileSync(join(cacheFolder(folder), installed, 'package.json'), 'utf8');
    return `${(JSON.parse(manifest) as { version: string }).version}, @hono/node-server ${serverVersion}`;
  },
  open: async ({ upstreamPort, upstreamKey, dataDir }) => {
    const port = await freePort();
    const script = join(cacheFolder(folder), installed, 'build', 'start-server.js');
    return {
      start: () =>
        startProgram({
          command: [process.execPath, script, `--port=${port}`, '--headless'],
          env: { NODE_ENV: 'production' },
          folder: dataDir,
          port,
        }),
      requestFor: (play) => ({
        ...chatRequest(play, { model: 'upstream-model' }),
        headers: {
          'x-portkey-provider': 'openai',
          'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/${play}/v1`,
        },
      }),
      key: upstreamKey,
      readBook: null,
    };
  },
};
