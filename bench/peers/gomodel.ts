// GoModel, a Go program. Its module calls itself `gomodel`, so `go install` refuses its path; a
// program built from a clone can be measured with TOLLGATE_BENCH_GOMODEL=/path/to/gomodel.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { cacheFolder, installOnce, runCommand } from '../side-by-side/cache.ts';
import { freePort, startProgram } from '../side-by-side/program.ts';
import { chatRequest } from '../side-by-side/requests.ts';
import { peerPlays, type Book, type Peer } from '../side-by-side/peer.ts';

const version = 'v0.1.20';
const folder = `gomodel-${version}`;
const own = process.env['TOLLGATE_BENCH_GOMODEL'];
const program = own ?? join(cacheFolder(folder), 'gomodel');
const key = 'bench-gomodel';

export const gomodel: Peer = {
  name: 'gomodel',
  features: {
    auth: 'one master key',
    billing: 'usage kept in memory, written to SQLite every 5 s; no balances',
    log: 'a line per request; audit log off',
  },
  telemetry: 'MODEL_LIST_URL empty (no price list download)',
  install: () => {
    if (own !== undefined) return `built from a clone, not from a registry: ${own}`;
    installOnce(folder, (target) => {
      const module = `github.com/ENTERPILOT/GOModel/cmd/gomodel@${version}`;
      runCommand(['env', `GOBIN=${target}`, 'go', 'install', module]);
    });
    return version;
  },
  open: async ({ upstreamPort, upstreamKey, dataDir }) => {
    const port = await freePort();
    const providers = Object.fromEntries(
      peerPlays.map((play) => [
        play,
        {
          type: 'openai',
          base_url: `http://127.0.0.1:${upstreamPort}/${play}/v1`,
          api_key: upstreamKey,
        },
      ]),
    );
    mkdirSync(join(dataDir, 'config'));
    writeFileSync(join(dataDir, 'config', 'config.yaml'), JSON.stringify({ providers }));
    const path = join(dataDir, 'gomodel.db');
    return {
      start: () =>
        startProgram({
          command: [program],
          env: {
            PORT: String(port),
            GOMODEL_MASTER_KEY: key,
            MODEL_LIST_URL: '',
            LOGGING_ENABLED: 'false',
            SQLITE_PATH: path,
          },
          folder: dataDir,
          port,
        }),
      requestFor: (play) => chatRequest(play, { model: `${play}/upstream-model` }),
      key,
      readBook: () => readBook(path),
    };
  },
};

function readBook(path: string): Book {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  const row = database
    .prepare(
      'select count(*) requests, coalesce(sum(input_tokens), 0) input, coalesce(sum(output_tokens), 0) output from usage',
    )
    .get() as { requests: number; input: number; output: number };
  database.close();
  return {
    requests: row.requests,
    inputTokens: row.input,
    outputTokens: row.output,
    chargedRequests: null,
    lostRequests: null,
  };
}
