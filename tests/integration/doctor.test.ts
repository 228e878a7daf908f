// `tollgate doctor` on installations with one broken part each.
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { openDatabase } from '../../src/db/database.ts';
import { columnOf } from '../support/column-of.ts';
import type { InstallationOptions } from '../support/installation.ts';
import { createDatabase } from '../support/postgres.ts';
import { Program } from '../support/program.ts';
import { runCommand } from '../support/run-command.ts';
import { answerJson, answerStatus, startUpstream } from '../support/upstream.ts';

type Finding = { area: string; level: string; what: string; remedy: string | null };

const secretKey = 'sk-secret-of-the-doctor-test';
const config = { metrics: { token: 'a token of the metrics' } };

async function install(t: TestContext, options: InstallationOptions = {}): Promise<Program> {
  const program = new Program({ config, ...options });
  t.after(() => program.stop().catch(() => {}));
  const database = openDatabase(program.databaseUrl);
  await database.migrate();
  await database.close();
  return program;
}

async function examine({ env }: Program, ...options: string[]) {
  const { stdout, code } = await runCommand(['doctor', '--json', ...options], env).then(
    (printed) => ({ stdout: printed, code: 0 }),
    (failure: { stdout: string; code: number }) => failure,
  );
  assert.ok(!stdout.includes(secretKey), 'a secret is printed');
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  assert.equal(code, ok ? 0 : 1);
  return { ok, findings, problems: findings.filter(({ level }) => level !== 'ok') };
}

function hasProblem(problems: readonly Finding[], level: string, what: RegExp): void {
  const found = problems.filter((problem) => problem.level === level && what.test(problem.what));
  assert.equal(found.length, 1, JSON.stringify(problems));
}

for (const store of ['SQLite', 'PostgreSQL']) {
  test(`a new installation on ${store} lacks only a provider`, async (t) => {
    const databaseUrl = store === 'SQLite' ? undefined : await createDatabase();
    const { ok, problems, findings } = await examine(await install(t, { databaseUrl }));
    assert.ok(ok);
    const ofToday = /prices are \d+ days old|MiB are free/;
    const others = problems.filter(({ what }) => !ofToday.test(what));
    // The tests' server does not wait for the disk.
    const unsafe = store === 'SQLite' ? [] : ['database'];
    assert.deepEqual(columnOf(others, 'area'), [...unsafe, 'providers']);
    assert.ok(findings.some(({ area, what }) => area === 'versions' && /Node\.js v/.test(what)));
  });
}

test('a database that others can read is a warning', async (t) => {
  const program = await install(t);
  chmodSync(join(program.dataDir, 'tollgate.db'), 0o644);
  const { ok, problems } = await examine(program);
  assert.ok(ok);
  hasProblem(problems, 'warning', /can read .*tollgate\.db\.$/);
});

test('a damaged database is an error', async (t) => {
  const program = await install(t);
  writeFileSync(join(program.dataDir, 'tollgate.db'), 'not a database '.repeat(1_000));
  hasProblem((await examine(program)).problems, 'error', /is damaged or not a SQLite database/);
});

test('a database of a newer version is an error', async (t) => {
  const program = await install(t);
  const database = openDatabase(program.databaseUrl);
  const row = `(name, timestamp) values ('9999-x-needs-9998', '2026-01-01')`;
  await sql.raw(`insert into kysely_migration ${row}`).execute(database.write);
  await database.close();
  hasProblem((await examine(program)).problems, 'error', /newer than this version/);
});

test('an unreachable PostgreSQL is an error, and its password is not printed', async (t) => {
  const databaseUrl = `postgres://me:${secretKey}@127.0.0.1:1/books`;
  const program = new Program({ config, databaseUrl });
  t.after(() => program.stop().catch(() => {}));
  hasProblem((await examine(program)).problems, 'error', /cannot be reached at 127\.0\.0\.1:1/);
});

test('a folder in which nothing can be written is an error', async (t) => {
  const folder = '/proc/self';
  const retention = { charges_days: 400, export_folder: folder };
  const program = await install(t, { config: { ...config, retention } });
  hasProblem((await examine(program)).problems, 'error', /Nothing can be written in \/proc/);
});

test('a wrong configuration is the only finding besides the versions', async (t) => {
  const program = await install(t, { config: { ...config, limits: { requests_per_minute: 'x' } } });
  const { ok, problems } = await examine(program);
  assert.ok(!ok);
  assert.equal(problems.length, 1);
  hasProblem(problems, 'error', /requests_per_minute/);
});

test('a key that a provider refuses is an error, with --online only', async (t) => {
  const upstream = await startUpstream(t);
  const refusal = { error: { message: `Incorrect API key provided: ${secretKey}` } };
  upstream.on('/bad/v1/models', answerStatus(401, { body: refusal }));
  upstream.on('/good/v1/models', answerJson({ data: [] }));
  const message = 'Signature expired: 20261127T120000Z is now earlier than 20261127T121500Z';
  upstream.on('/foundation-models', answerStatus(403, { body: { message } }));
  const provider = (path: string) => ({
    kind: 'openai-compatible',
    base_url: `${upstream.url}/${path}/v1`,
    api_key: secretKey,
  });
  const providers = {
    bad: provider('bad'),
    good: provider('good'),
    cloud: {
      kind: 'bedrock',
      base_url: upstream.url,
      region: 'eu-west-1',
      api_key: `AKIAEXAMPLE000001:${secretKey.padEnd(40, 'x').replaceAll(/[^A-Za-z0-9]/g, 'x')}`,
    },
  };
  const program = await install(t, { config: { ...config, providers } });
  const { problems } = await examine(program);
  assert.ok(!problems.some(({ area }) => area === 'providers'));
  assert.equal(upstream.requests.length, 0);
  const online = await examine(program, '--online');
  assert.ok(!online.ok);
  hasProblem(online.problems, 'error', /bad refuses its key \(401\): .* \[key removed\]/);
  assert.ok(online.findings.some(({ what }) => /good accepts its key/.test(what)));
  // In the cloud's own words, and with what helps.
  const cloud = online.problems.find(({ what }) => what.includes('provider cloud'));
  assert.match(cloud!.what, /refuses its key \(403\): Signature expired/);
  assert.match(cloud!.remedy!, /clock/);
});

test('models on sale that end or have ended are a warning, and an alias of nothing is an error', async (t) => {
  const model = { routes: [{ provider: 'local', model: 'old' }], prices: { input: 1, output: 1 } };
  const local = { kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1', api_key: 'none' };
  const soon = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  const program = await install(t, {
    config: {
      ...config,
      providers: { local },
      models: {
        older: { ...model, retires_at: '2020-01-02', successor: 'lasting' },
        old: { ...model, retires_at: '2020-01-01' },
        late: { ...model, retires_at: '2199-01-01' },
        soon: { ...model, retires_at: soon, successor: 'lasting' },
        'not-sold': { ...model, retires_at: '2020-01-01', ended: true },
        lasting: model,
      },
    },
  });
  const found = (await examine(program)).problems;
  const ended =
    /^Providers have ended models that are on sale: old on 2020-01-01, older on 2020-01-02\.$/;
  hasProblem(found, 'warning', ended);
  const ending = new RegExp(`^Providers end models that are on sale: soon on ${soon}\\.$`);
  hasProblem(found, 'warning', ending);
  const { stdout } = await runCommand(['models', 'check'], program.env).then(
    (printed) => ({ stdout: printed }),
    (failure: { stdout: string }) => failure,
  );
  assert.match(stdout, /^older +its provider ended it on 2020-01-02; lasting takes its place$/m);
  assert.match(stdout, /^late +its provider ends it on 2199-01-01$/m);
  assert.doesNotMatch(stdout, /^not-sold/m);

  const broken = await install(t, { config: { ...config, aliases: { fast: 'no-such-model' } } });
  const { ok, problems } = await examine(broken);
  assert.ok(!ok);
  hasProblem(problems, 'error', /aliases\.fast must name a model/);
});
