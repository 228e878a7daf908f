// Makes the databases of old versions beside this file, by running those versions. README.md says
// how. Each version serves requests with its own code, on SQLite and on PostgreSQL, and is killed
// during a stream, so that a hold is left.
import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { answerContent } from '../support/answers.ts';
import { endpoints } from '../support/endpoints.ts';
import { open, send } from '../support/http.ts';
import { answerJson, startUpstream, thenHang, type LocalUpstream } from '../support/upstream.ts';
import type { Manifest, OldKey } from './manifest.ts';
import { versions, type OldVersion } from './versions.ts';

type StoreName = 'sqlite' | 'postgres';
type Row = Readonly<Record<string, string | number>>;

const root = join(import.meta.dirname, '..', '..');
const secret = 'the secret of every old database in the tests';
const password = 'correct horse battery staple';
const work = mkdtempSync(join(tmpdir(), 'tollgate-old-'));
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });

/** Packages by lock. They stay for the next run. */
const packagesFolder = join(tmpdir(), 'tollgate-old-packages');

/** Puts the files and packages of a version into a folder. Versions with one lock share packages. */
function checkOut({ commit }: OldVersion): string {
  const folder = join(work, commit);
  git('worktree', 'add', '--detach', folder, commit);
  const packages = join(packagesFolder, git('rev-parse', `${commit}:package-lock.json`).trim());
  const isComplete = join(packages, 'complete');
  if (!existsSync(isComplete)) {
    mkdirSync(packages, { recursive: true });
    for (const file of ['package.json', 'package-lock.json', '.npmrc', 'bundle/package.json']) {
      if (!existsSync(join(folder, file))) continue;
      mkdirSync(dirname(join(packages, file)), { recursive: true });
      writeFileSync(join(packages, file), readFileSync(join(folder, file)));
    }
    execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: packages,
      stdio: 'inherit',
    });
    writeFileSync(isComplete, '');
  }
  execFileSync('cp', [
    '-a',
    '--link',
    join(packages, 'node_modules'),
    join(folder, 'node_modules'),
  ]);
  return folder;
}

class OldProgram {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | null = null;
  output = '';
  url = '';

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = {
      PATH: process.env['PATH'],
      HOME: work,
      NODE_COMPILE_CACHE: join(packagesFolder, 'compiled'),
      ...env,
    };
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, ['src/main.ts', 'serve'], {
      cwd: this.#folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => (this.output += String(chunk)));
    while (!/listens on http/.test(this.output)) {
      assert.equal(child.exitCode, null, this.output);
      await setTimeout(50);
    }
    this.url = /listens on (http:\S+)/.exec(this.output)![1]!;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the shape of JSON is the caller's claim in any case
  cli<Result>(...args: string[]): Result {
    const text = execFileSync(process.execPath, ['src/main.ts', ...args, '--json'], {
      cwd: this.#folder,
      env: this.#env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return JSON.parse(text) as Result;
  }

  /** Runs a command that versions before it do not have. */
  tryCli(...args: string[]): boolean {
    try {
      this.cli(...args);
      return true;
    } catch {
      return false;
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child!;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

/** Uses the program as its customers do. Returns its keys, and the user if the version has users. */
async function use(program: OldProgram, upstream: LocalUpstream) {
  const { id: account } = program.cli<{ id: string }>(
    'accounts',
    'create',
    '--name',
    'Ada',
    '--credit-usd',
    '20',
  );
  const { id: poor } = program.cli<{ id: string }>('accounts', 'create', '--name', 'Poor');
  const create = (of: string, mode: 'live' | 'test', ...options: string[]) => ({
    account: of,
    mode,
    ...program.cli<{ id: string; key: string }>(
      'keys',
      'create',
      '--account',
      of,
      '--mode',
      mode,
      ...options,
    ),
  });
  const live = create(account, 'live', '--daily-cap-usd', '5', '--rpm', '1000');
  const test = create(account, 'test');
  const revoked = create(account, 'live');
  const penniless = create(poor, 'live');
  program.cli('accounts', 'credit', account, '--usd', '1.5', '--note', 'a present');
  program.cli('keys', 'revoke', revoked.id);
  program.tryCli('accounts', 'debit', account, '--usd', '0.25');
  program.tryCli('accounts', 'update', account, '--price-multiplier', '0.9');
  const second = create(account, 'live', '--name', 'second', '--models', 'gpt-5-mini');
  const disabled = create(account, 'live');
  const isDisabled = program.tryCli('keys', 'disable', disabled.id);
  program.tryCli('keys', 'update', second.id, '--tpm', '100000', '--allow', '127.0.0.1/32');
  program.tryCli('admin-keys', 'create', '--name', 'shop', '--scopes', 'accounts:read');
  program.tryCli('keys', 'update', second.id, '--scopes', 'run,usage');
  program.tryCli('accounts', 'telemetry', account, '--endpoint', 'https://otlp.example.com');
  // Versions before tags ignore the header.
  const tags = { 'x-service-tags': 'project=alpha, env=prod' };

  for (const { name, path, body, upstreamPath } of endpoints) {
    upstream.on(
      upstreamPath,
      answerContent(name, { text: 'one two', tokens: { input: 300, output: 40 } }),
    );
    for (const stream of [false, true]) {
      for (const { key } of [live, test])
        await charged(program.url + path, key, body({ stream }), tags);
    }
    await charged(program.url + path, live.key, body(), { 'idempotency-key': `first-${name}` });
  }
  const chat = endpoints.find(({ name }) => name === 'chat')!;
  await charged(program.url + chat.path, second.key, chat.body());
  const refused = await send(program.url + chat.path, { key: penniless.key, body: chat.body() });
  assert.equal(refused.status, 402, refused.text);
  upstream.on(
    '/v1/images/generations',
    answerJson({
      created: 1_790_000_000,
      data: [{ b64_json: png }],
      usage: {
        input_tokens: 10,
        output_tokens: 272,
        total_tokens: 282,
        input_tokens_details: { text_tokens: 10, image_tokens: 0 },
      },
    }),
  );
  const image = await send(`${program.url}/v1/images/generations`, {
    key: live.key,
    body: { model: 'gpt-image-1', prompt: 'a fish', quality: 'low', size: '1024x1024' },
  });
  const keys: OldKey[] = [
    ...[live, test, second].map((key) => ({ ...key, state: 'works' as const })),
    { ...revoked, state: 'revoked' },
    { ...penniless, state: 'without-money' },
    ...(isDisabled ? [{ ...disabled, state: 'disabled' as const }] : []),
  ];
  const hasImages = image.status === 200;
  return { account, keys, user: await signUp(program), hasImages, held: { chat, key: live.key } };
}

/** A PNG of one pixel. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function charged(url: string, key: string, body: object, headers = {}): Promise<void> {
  const reply = await send(url, { key, body, headers });
  assert.equal(reply.status, 200, reply.text);
}

async function signUp({ output, url }: OldProgram): Promise<Manifest['user']> {
  const token = /first-run\?token=([\w-]+)/.exec(output)?.[1];
  if (token === undefined) return null;
  const email = 'ada@example.com';
  const reply = await send(`${url}/dashboard-api/auth/first-run`, {
    headers: { origin: url },
    body: { token, name: 'Ada', email, password },
  });
  assert.equal(reply.status, 200, reply.text);
  return { email, password };
}

/** Starts a stream that does not end, and kills the program. */
async function killWhileHolding(
  program: OldProgram,
  upstream: LocalUpstream,
  { chat, key }: Awaited<ReturnType<typeof use>>['held'],
): Promise<void> {
  upstream.on(chat.upstreamPath, thenHang(''));
  const count = upstream.requests.length;
  const { request } = open(program.url + chat.path, { key, body: chat.body({ stream: true }) });
  await upstream.request(count);
  await program.end('SIGKILL');
  request.destroy();
}

async function makeFor(version: OldVersion, folder: string, store: StoreName): Promise<Manifest> {
  const upstream = await startUpstream();
  const dataDir = mkdtempSync(join(work, 'data-'));
  const config = join(dataDir, 'tollgate.yaml');
  const providers = {
    openai: { kind: 'openai', base_url: `${upstream.url}/v1`, api_key: 'sk-upstream' },
    anthropic: { kind: 'anthropic', base_url: upstream.url, api_key: 'sk-upstream' },
  };
  writeFileSync(config, JSON.stringify({ providers, log: { level: 'fatal' } }));
  const name = `old_${version.commit}`;
  if (store === 'postgres') await onServer(`create database ${name}`);
  const program = new OldProgram(folder, {
    PORT: '0',
    TOLLGATE_CONFIG: config,
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_SECRET: secret,
    ...(store === 'postgres' && { DATABASE_URL: urlOf(name) }),
  });
  const madeAtMs = Date.now();
  await program.start();
  const { keys, user, hasImages, held } = await use(program, upstream);
  // A stop and a start of the version itself.
  await program.end('SIGTERM');
  program.output = '';
  await program.start();
  await charged(program.url + held.chat.path, held.key, held.chat.body());
  assert.equal(program.cli<{ ok: boolean }>('verify').ok, true);
  await killWhileHolding(program, upstream, held);
  await upstream.close();

  const target = join(import.meta.dirname, version.name);
  mkdirSync(target, { recursive: true });
  const facts =
    store === 'sqlite'
      ? keepSqlite(join(dataDir, 'tollgate.db'), join(target, 'sqlite.db.gz'))
      : await keepPostgres(name, join(target, 'postgres.sql.gz'));
  return { commit: version.commit, secret, madeAtMs, user, hasImages, keys, ...facts };
}

type Facts = Pick<Manifest, 'migrations' | 'ledgers' | 'holds'>;

const questions = {
  migrations: 'select name from kysely_migration order by timestamp, name',
  ledgers: `select id, account_id, mode, posted_micros,
    (select count(*) from charges where ledger_id = ledgers.id) as charges,
    (select coalesce(sum(cost_micros), 0) from charges where ledger_id = ledgers.id) as charged_micros
    from ledgers order by id`,
  holds: 'select count(*) as count, sum(amount_micros) as micros from holds',
};

function factsOf(rows: Readonly<Record<keyof typeof questions, readonly Row[]>>): Facts {
  const { count, micros } = rows.holds[0]!;
  assert.equal(Number(count), 1, 'the hold of the stream');
  return {
    migrations: rows.migrations.map(({ name }) => String(name)),
    ledgers: rows.ledgers.map((row) => ({
      id: String(row['id']),
      account: String(row['account_id']),
      mode: row['mode'] as 'live' | 'test',
      postedMicros: Number(row['posted_micros']),
      charges: Number(row['charges']),
      chargedMicros: Number(row['charged_micros']),
    })),
    holds: { count: Number(count), micros: Number(micros) },
  };
}

function keepSqlite(file: string, target: string): Facts {
  const database = new DatabaseSync(file);
  const ask = (sql: string) => database.prepare(sql).all() as Row[];
  const facts = factsOf({
    migrations: ask(questions.migrations),
    ledgers: ask(questions.ledgers),
    holds: ask(questions.holds),
  });
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
  writeFileSync(target, gzipSync(readFileSync(file), { level: 9 }));
  return facts;
}

async function keepPostgres(name: string, target: string): Promise<Facts> {
  const ask = (sql: string) => onServer(sql, name);
  const facts = factsOf({
    migrations: await ask(questions.migrations),
    ledgers: await ask(questions.ledgers),
    holds: await ask(questions.holds),
  });
  const dump = execFileSync(
    'pg_dump',
    ['--no-owner', '--no-privileges', '--inserts', '--rows-per-insert=100', urlOf(name)],
    { encoding: 'utf8', maxBuffer: 1 << 28 },
  );
  // These lines are commands of psql.
  const statements = dump.replaceAll(/^\\.*\n/gm, '');
  writeFileSync(target, gzipSync(statements, { level: 9 }));
  return facts;
}

// Debian's PostgreSQL, because its pg_dump must be as new as its server.
const serverFolder = join(work, 'postgres');
const urlOf = (name: string) =>
  `postgres://tollgate@localhost/${name}?host=${encodeURIComponent(serverFolder)}`;

async function onServer(sql: string, name = 'postgres'): Promise<Row[]> {
  const client = new Client({ connectionString: urlOf(name) });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function startServer(): Promise<() => void> {
  const nobody = 65_534;
  const isRoot = process.getuid?.() === 0;
  mkdirSync(serverFolder);
  if (isRoot) {
    execFileSync('chmod', ['755', work]);
    chownSync(serverFolder, nobody, nobody);
  }
  const options = { cwd: serverFolder, ...(isRoot && { uid: nobody, gid: nobody }) };
  const folder = execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
  const data = join(serverFolder, 'data');
  execFileSync(join(folder, 'initdb'), ['-D', data, '-U', 'tollgate', '-A', 'trust'], options);
  const settings = ['listen_addresses=', 'fsync=off'].flatMap((setting) => ['-c', setting]);
  const child = spawn(join(folder, 'postgres'), ['-D', data, '-k', serverFolder, ...settings], {
    ...options,
    stdio: 'ignore',
  });
  process.once('exit', () => child.kill('SIGQUIT'));
  for (let attempt = 0; ; attempt++) {
    try {
      await onServer('select 1');
      return () => child.kill('SIGINT');
    } catch (error) {
      if (attempt === 200) throw error;
      await setTimeout(100);
    }
  }
}

const wanted = process.argv.slice(2);
const stopServer = await startServer();
for (const version of versions.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const folder = checkOut(version);
  const manifests: Partial<Record<StoreName, Manifest>> = {};
  for (const store of version.stores) manifests[store] = await makeFor(version, folder, store);
  const file = join(import.meta.dirname, version.name, 'manifest.json');
  writeFileSync(file, `${JSON.stringify(manifests, null, 2)}\n`);
  git('worktree', 'remove', '--force', folder);
  console.log(version.name);
}
stopServer();
rmSync(work, { recursive: true, force: true });
