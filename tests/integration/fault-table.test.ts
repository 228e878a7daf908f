// The fault table of tests/support/faults.ts, over HTTP with a live key: no hangs, no wrong
// charges, no leaks, always a valid ending in the client's format, and no confidential text
// anywhere afterwards. `npm test` runs cells that cover every fault and every pair, `npm run
// test:all -- faults` all of them.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { faultModel, providerKeyCore, startFaultGateway } from '../support/fault-gateway.ts';
import { metricsToken } from '../support/gateway.ts';
import { canaryCores } from '../support/fault-server.ts';
import {
  allCells,
  coveringCells,
  idempotencyKeyCore,
  newLane,
  runCells,
  taskCells,
  taskProblemOf,
  type Cell,
  type CellResult,
  type Lane,
} from '../support/fault-table.ts';
import { makeOrdinaryErrors, wrongKey } from '../support/ordinary-errors.ts';
import { findSecrets, type Secret } from '../support/secrets.ts';
import type { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { scaled } from '../support/volume.ts';

const lanesCount = 72;
/** `FAULTS=^usage`: only rows whose fault or pair matches. */
const chosen = new RegExp(process.env['FAULTS'] ?? '.');

const faulty = await startFaultGateway({ log: { level: 'trace' } });
const lanes = await Promise.all(Array.from({ length: lanesCount }, () => newLane(faulty)));
after(() => faulty.stop());

test('every fault on every pair has the right charge and ending, without a hang or leak', async (t) => {
  const cells = scaled(coveringCells(), allCells()).filter(
    ({ fault, pair }) => chosen.test(fault.name) || chosen.test(pair.name),
  );
  const results = await runCells(cells, lanes);
  const problems = results.filter(({ problem }) => problem !== null);
  summarize(t, results, problems);
  assert.deepEqual(describe(problems), []);
  await nothingIsOpen();
});

test('every fault of the transport on a task has the right charge and ending', async () => {
  const queue = taskCells().filter(({ id }) => chosen.test(id));
  const problems: string[] = [];
  await Promise.all(
    lanes.map(async (lane) => {
      for (let cell = queue.shift(); cell; cell = queue.shift()) {
        const problem = await taskProblemOf(lane, cell);
        if (problem !== null) problems.push(problem);
      }
    }),
  );
  assert.deepEqual(problems, []);
  await nothingIsOpen();
});

/**
 * The gateway may keep upstream connections of finished answers for some seconds, to read them to
 * the end.
 */
async function nothingIsOpen(): Promise<void> {
  const { app, clock } = faulty.gateway.program;
  await until(async () => {
    await (clock as TestClock).advance(1_000);
    return app.gateway.runs.count === 0 && faulty.server.busySockets === 0;
  });
}

function summarize(
  t: TestContext,
  results: readonly CellResult[],
  problems: readonly CellResult[],
): void {
  const countOf = (words: RegExp) => problems.filter(({ problem }) => words.test(problem!)).length;
  t.diagnostic(
    `${results.length} cells: ${countOf(/^a hang/)} hangs, ${countOf(/^the charge/)} wrong charges, ` +
      `${countOf(/^a leak/)} secrets leaked, ${problems.length} problems in all`,
  );
}

function describe(problems: readonly CellResult[]): string[] {
  return problems.map(
    ({ cell: { fault, pair, stream, isKeyed }, problem }) =>
      `${fault.name}, ${pair.name}, ${stream ? 'stream' : 'whole'}${isKeyed ? ', keyed' : ''}: ${problem}`,
  );
}

test('the cells of `npm test` cover every fault, and every pair streamed and whole', () => {
  const placesOf = (cells: readonly Cell[]) => ({
    faults: new Set(cells.map(({ fault }) => fault.name)),
    pairs: new Set(cells.map(({ pair, stream }) => `${pair.name} ${stream}`)),
  });
  assert.deepEqual(placesOf(coveringCells()), placesOf(allCells()));
});

test('keys, prompts and answers are not in any log, file or other answer', async (t) => {
  const [{ key: anyKey }] = lanes as [Lane];
  assert.deepEqual(
    await makeOrdinaryErrors(faulty.gateway, { key: anyKey, model: faultModel('chat') }),
    [],
  );
  const secrets: Secret[] = [
    { name: 'the provider key', text: providerKeyCore },
    { name: 'a prompt', text: canaryCores.prompt },
    { name: 'an answer', text: canaryCores.answer },
    { name: 'a wrong key', text: wrongKey },
    { name: 'an Idempotency-Key', text: idempotencyKeyCore },
    ...lanes.map(({ key }) => ({ name: 'a client key', text: key })),
  ];
  const places = [
    ...(await publicPlaces()),
    ...(await postgresRows()),
    ...dataFiles(),
    { name: 'the log', bytes: Buffer.from(faulty.gateway.program.output) },
  ];
  const found = places.flatMap(({ name, bytes }) =>
    findSecrets(bytes, secrets).map((secret) => `${secret} in ${name}`),
  );
  const bytes = places.reduce((sum, place) => sum + place.bytes.length, 0);
  // A text that is not secret is found, which proves that the search works.
  const charged = places
    .filter(({ bytes: content }) => content.includes(faultModel('chat')))
    .map(({ name }) => name);
  assert.ok(
    charged.includes('/metrics') && charged.includes('the log') && charged.length > 2,
    charged.join(),
  );
  t.diagnostic(
    `${found.length} of ${secrets.length} secrets found in ${places.length} places, ${bytes} bytes`,
  );
  assert.deepEqual(found, []);
});

type Place = { readonly name: string; readonly bytes: Buffer };

async function publicPlaces(): Promise<Place[]> {
  const [{ key }] = lanes as [Lane];
  const paths: Readonly<Record<string, string | undefined>> = {
    '/metrics': metricsToken,
    '/readyz': metricsToken,
    '/v1/models': undefined,
    '/v1/usage?limit=100': key,
    '/v1/balance': key,
  };
  return Promise.all(
    Object.entries(paths).map(async ([path, bearer]) => {
      const reply = await faulty.gateway.get(path, bearer === undefined ? {} : { key: bearer });
      assert.equal(reply.status, 200, path);
      return { name: path, bytes: Buffer.from(JSON.stringify(reply.headers) + reply.text) };
    }),
  );
}

/** Every row of every table; bytes as hex. */
async function postgresRows(): Promise<Place[]> {
  const { url, read } = faulty.gateway.database;
  if (url.startsWith('sqlite:')) return [];
  const tables = await sql<{
    name: string;
  }>`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(read);
  return Promise.all(
    tables.rows.map(async ({ name }) => {
      const { rows } = await sql<{
        row: string;
      }>`select t::text as row from ${sql.table(name)} t`.execute(read);
      return { name, bytes: Buffer.from(rows.map(({ row }) => row).join('\n')) };
    }),
  );
}

/**
 * Everything the program wrote: the database with its log, and other files. The configuration is
 * the operator's.
 */
function dataFiles(): Place[] {
  const folder = faulty.gateway.program.dataDir;
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'tollgate.yaml')
    .map((entry) => join(entry.parentPath, entry.name));
  return names.map((name) => ({ name: name.slice(folder.length + 1), bytes: readFileSync(name) }));
}
