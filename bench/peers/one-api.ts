// one-api, a Go module. Its module lacks the web pages that it embeds, so a copy is built with one
// empty page; nothing else is changed.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { chatUsage } from '../bodies.ts';
import { cacheFolder, installOnce, runCommand } from '../side-by-side/cache.ts';
import { freePort, startProgram } from '../side-by-side/program.ts';
import { chatRequest } from '../side-by-side/requests.ts';
import { peerPlays, type Book, type Peer } from '../side-by-side/peer.ts';
import { litellm, tokenizerFolder } from './litellm.ts';

const version = 'v0.6.10';
const module = 'github.com/songquanpeng/one-api';
const folder = `one-api-${version}`;
/** Its keys have 48 letters, behind `sk-`. */
const token = 'bench'.padEnd(48, '0');
const administrator = 'bench-administrator'.padEnd(32, '0');
/** A ratio of 1 is 2 dollars a million tokens: 1.25 and 10 dollars, as for the others. */
const modelRatio = 0.625;
const completionRatio = 8;
const priceQuota = Math.ceil(
  (chatUsage.inputTokens + chatUsage.outputTokens * completionRatio) * modelRatio,
);
const quota = 1e15;

export const oneApi: Peer = {
  name: 'one-api',
  features: {
    auth: 'keys',
    billing: 'quota and log written after the answer (SQLite, one connection)',
    log: 'a line per request and per charge',
  },
  telemetry: 'TIKTOKEN_CACHE_DIR with files of the litellm package (no tokenizer download)',
  install: () => {
    litellm.install();
    installOnce(folder, (target) => {
      const download = runCommand(['go', 'mod', 'download', '-json', `${module}@${version}`]);
      const source = join(target, 'source');
      cpSync((JSON.parse(download) as { Dir: string }).Dir, source, { recursive: true });
      runCommand(['chmod', '-R', 'u+w', source]);
      const pages = join(source, 'web', 'build', 'default');
      mkdirSync(pages, { recursive: true });
      writeFileSync(join(pages, 'index.html'), '');
      runCommand(['go', 'build', '-o', join(target, 'one-api'), '.'], source);
    });
    return version;
  },
  open: async ({ upstreamPort, upstreamKey, dataDir }) => {
    const port = await freePort();
    const path = join(dataDir, 'one-api.db');
    const start = () =>
      startProgram({
        command: [
          join(cacheFolder(folder), 'one-api'),
          `--port=${port}`,
          `--log-dir=${join(dataDir, 'logs')}`,
        ],
        env: {
          GIN_MODE: 'release',
          SQLITE_PATH: path,
          SESSION_SECRET: 'bench-session',
          INITIAL_ROOT_ACCESS_TOKEN: administrator,
          TIKTOKEN_CACHE_DIR: tokenizerFolder(),
          MEMORY_CACHE_ENABLED: 'true',
          SYNC_FREQUENCY: '60',
          GLOBAL_API_RATE_LIMIT: '1000000000',
          // With the default pool, 64 clients met "database is locked", and charges were lost.
          SQL_MAX_OPEN_CONNS: '1',
          SQL_MAX_IDLE_CONNS: '1',
        },
        folder: dataDir,
        port,
      });
    const running = await start();
    await setUp(`http://127.0.0.1:${port}`, { upstreamPort, upstreamKey });
    await running.stop();
    setToken(path);
    return {
      start,
      requestFor: (play) => chatRequest(play, { model: play }),
      key: `sk-${token}`,
      readBook: () => readBook(path),
    };
  },
};

type Upstream = { readonly upstreamPort: number; readonly upstreamKey: string };

/** Sets prices, channels and a token through the administrator's API. */
async function setUp(origin: string, { upstreamPort, upstreamKey }: Upstream): Promise<void> {
  const call = async (method: string, path: string, body: object) => {
    const response = await fetch(origin + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: administrator },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { success: boolean; message: string };
    if (!answer.success) throw new Error(`one-api: ${path}: ${answer.message}`);
  };
  // Prices belong to the upstream's model.
  const ratios = (ratio: number) => JSON.stringify({ 'upstream-model': ratio });
  await call('PUT', '/api/option/', { key: 'ModelRatio', value: ratios(modelRatio) });
  await call('PUT', '/api/option/', { key: 'CompletionRatio', value: ratios(completionRatio) });
  for (const play of peerPlays)
    await call('POST', '/api/channel/', {
      type: 1,
      name: play,
      key: upstreamKey,
      base_url: `http://127.0.0.1:${upstreamPort}/${play}`,
      models: play,
      group: 'default',
      model_mapping: JSON.stringify({ [play]: 'upstream-model' }),
    });
  await call('POST', '/api/token/', {
    name: 'bench',
    remain_quota: quota,
    expired_time: -1,
    unlimited_quota: false,
  });
}

/** Replaces the token's random key by one that the bench knows. */
function setToken(path: string): void {
  const database = new DatabaseSync(path);
  database.prepare(`update tokens set key = ? where name = 'bench'`).run(token);
  database.prepare('update users set quota = ?').run(quota);
  database.close();
}

function readBook(path: string): Book {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  const log = database
    .prepare(
      'select count(*) requests, coalesce(sum(prompt_tokens), 0) input, coalesce(sum(completion_tokens), 0) output from logs where type = 2',
    )
    .get() as { requests: number; input: number; output: number };
  const { remaining } = database
    .prepare(`select remain_quota remaining from tokens where name = 'bench'`)
    .get() as { remaining: number };
  database.close();
  return {
    requests: log.requests,
    inputTokens: log.input,
    outputTokens: log.output,
    chargedRequests: (quota - remaining) / priceQuota,
    lostRequests: null,
  };
}
