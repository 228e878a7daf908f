// deploy/compose: the file is read by the library behind `docker compose`, which is built with Go;
// HAProxy runs with its configuration in front of two gateways on PostgreSQL.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { answerContent, streamFrames } from '../../support/answers.ts';
import { root } from '../../support/built-program.ts';
import { endpoint } from '../../support/endpoints.ts';
import { goEnv } from '../../support/go.ts';
import { open, send } from '../../support/http.ts';
import { isPending } from '../../support/is-pending.ts';
import { programEnv as env, skipWithout } from '../../support/programs.ts';
import { installPython, skipWithoutPython } from '../../support/python.ts';
import { startReplicaPrograms } from '../../support/replicas.ts';
import { until } from '../../support/until.ts';
import { answerInParts } from '../../support/upstream.ts';

const source = join(root, 'deploy', 'compose');
const chat = endpoint('chat');
const content = { text: 'one two three four five', tokens: { input: 100, output: 20 } };
/** For hangs only. */
const timeout = 600_000;

type Service = {
  readonly image: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: object;
  readonly networks: object;
  readonly ports?: readonly { readonly host_ip?: string; readonly published: string }[];
};

type Project = {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};

let checker: string;
before(
  () => {
    if (skipWithoutPython !== false) return;
    const program = join(import.meta.dirname, 'compose-go');
    const folder = installPython(join(import.meta.dirname, 'requirements.txt'), {
      more: readdirSync(program).map((name) => join(program, name)),
      finish: (tools) => {
        cpSync(program, join(tools, 'compose-go'), { recursive: true });
        const options = [
          'build',
          '-C',
          join(tools, 'compose-go'),
          '-o',
          join(tools, 'bin', 'read-compose'),
        ];
        execFileSync(join(tools, 'bin', 'go'), options, {
          stdio: ['ignore', 'ignore', 'inherit'],
          env: { ...process.env, ...goEnv, GOTOOLCHAIN: 'local' },
        });
      },
    });
    checker = join(folder, 'bin', 'read-compose');
  },
  { timeout },
);

test(
  'the Compose file is valid, and no service can do more than it needs',
  { skip: skipWithoutPython },
  async (t) => {
    const folder = copyOf(t);
    const { services, networks } = await read(folder);
    assert.deepEqual(
      Object.keys(services).toSorted(),
      'gateway-1 gateway-2 postgres prometheus proxy'.split(' '),
    );
    for (const [name, service] of Object.entries(services)) {
      const limits = [service.read_only, service.cap_drop, service.security_opt];
      assert.deepEqual(limits, [true, ['ALL'], ['no-new-privileges:true']], name);
      for (const { host_ip: address } of service.ports ?? [])
        assert.equal(address, '127.0.0.1', `${name} is open to the network unasked`);
      assert.match(service.image, /:./, `${name} has no version`);
    }
    assert.deepEqual(services['gateway-1'], services['gateway-2']);
    assert.deepEqual(Object.keys(services['postgres']!.networks), ['inside']);
    assert.equal(networks['inside']!.internal, true);
  },
);

test(
  'gateways and proxy have longer to stop than open requests',
  { skip: skipWithoutPython },
  async (t) => {
    const folder = copyOf(t);
    const { services } = await read(folder);
    // The default of server.shutdown_timeout_ms, which the file does not change, and ten seconds.
    const { server } = parse(readFileSync(join(folder, 'tollgate.yaml'), 'utf8')) as {
      server: object;
    };
    assert.ok(!('shutdown_timeout_ms' in server));
    for (const name of ['gateway-1', 'gateway-2', 'proxy'])
      assert.ok(secondsOf(services[name]!.stop_grace_period) > 40, name);
  },
);

test(
  'secrets are made once, differ, are closed to others, and are not in the Compose file',
  { skip: skipWithoutPython },
  async (t) => {
    const folder = copyOf(t);
    const secrets = join(folder, 'secrets');
    assert.equal(statSync(secrets).mode & 0o777, 0o700);
    assert.equal(statSync(join(secrets, 'gateway.env')).mode & 0o777, 0o600);
    const { environment = {} } = (await read(folder)).services['gateway-1']!;
    const password = readFileSync(join(secrets, 'postgres_password'), 'utf8');
    const token = readFileSync(join(secrets, 'metrics_token'), 'utf8');
    assert.equal(environment['DATABASE_URL'], `postgres://tollgate:${password}@postgres/tollgate`);
    assert.equal(environment['METRICS_TOKEN'], token);
    const made = [password, token, environment['TOLLGATE_SECRET']!];
    assert.equal(new Set(made).size, 3);
    for (const secret of made) assert.match(secret, /^[0-9a-f]{64}$/);

    const again = spawnSync('sh', [join(folder, 'make-secrets.sh')], { encoding: 'utf8' });
    assert.equal(again.status, 1);
    assert.match(again.stderr, /they are kept/);
    assert.equal(readFileSync(join(secrets, 'metrics_token'), 'utf8'), token);
  },
);

test('a misspelt field in the Compose file is refused', { skip: skipWithoutPython }, async (t) => {
  const folder = copyOf(t);
  const path = join(folder, 'compose.yaml');
  writeFileSync(path, readFileSync(path, 'utf8').replace('read_only:', 'readonly:'));
  await assert.rejects(read(folder), /readonly/);
});

test(
  'Prometheus accepts its configuration, and asks both gateways',
  { skip: skipWithout('promtool') },
  () => {
    const path = join(source, 'prometheus.yml');
    const { status, stdout, stderr } = spawnSync(
      'promtool',
      ['check', 'config', '--syntax-only', path],
      { env, encoding: 'utf8' },
    );
    assert.equal(status, 0, stdout + stderr);
    type Settings = { scrape_configs: [{ static_configs: [{ targets: string[] }] }] };
    const settings = parse(readFileSync(path, 'utf8')) as Settings;
    const { targets } = settings.scrape_configs[0].static_configs[0];
    assert.deepEqual(targets, ['gateway-1:4000', 'gateway-2:4000']);
  },
);

const needsProxy = { skip: skipWithout('haproxy'), timeout };

test(
  'HAProxy passes each event on at once, and the client’s true address',
  needsProxy,
  async (t) => {
    const { url, setup, upstream } = await startBehindProxy(t);
    const { key } = await setup.makeKey({ creditUsd: 5 });
    const { start, deltas, end } = streamFrames('chat', content);
    const answer = answerInParts([...start, deltas[0]!], [...deltas.slice(1), ...end]);
    upstream.on(chat.upstreamPath, answer.script);
    const stream = await open(url + chat.path, { key, body: chat.body({ stream: true }) }).response;
    let text = '';
    stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const ended = once(stream, 'end');
    // The upstream has not sent the rest yet.
    await until(() => text.includes('one'));
    assert.ok(await isPending(ended));
    assert.ok(!text.includes('two'));
    answer.release();
    await ended;
    assert.match(text, /two[^]*five[^]*\[DONE\]/);

    upstream.on(chat.upstreamPath, answerContent('chat', content));
    const local = await setup.makeKey({ creditUsd: 5, allowedAddresses: ['127.0.0.1/32'] });
    const claimed = { 'x-forwarded-for': '203.0.113.9' };
    const reply = await send(url + chat.path, {
      key: local.key,
      headers: claimed,
      body: chat.body(),
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal((await send(`${url}/metrics`)).status, 404);
  },
);

test(
  'while one gateway after the other restarts, no request fails and no stream is cut',
  needsProxy,
  async (t) => {
    const { url, replicas, setup, upstream, move } = await startBehindProxy(t);
    const { key } = await setup.makeKey({ creditUsd: 5 });
    const { start, deltas, end } = streamFrames('chat', content);
    let requests = 0;
    for (const [index, replica] of replicas.entries()) {
      const answer = answerInParts([...start, deltas[0]!], [...deltas.slice(1), ...end]);
      upstream.on(chat.upstreamPath, answer.script, answer.script, answerContent('chat', content));
      // With the fewest open requests first, two streams are on both gateways.
      const seen = upstream.requests.length;
      const ask = (fields = {}) => send(url + chat.path, { key, body: chat.body(fields) });
      const streams = [ask({ stream: true }), ask({ stream: true })];
      await upstream.request(seen + 1);
      const ended = replica.terminate();
      do {
        const reply = await ask();
        assert.equal(reply.status, 200, reply.text);
        requests += 1;
        // The gateway's own port is closed, and its stream still runs.
        if (await isRefused(replica.url)) answer.release();
      } while (await isPending(ended));
      assert.equal(await ended, 0);
      for (const stream of await Promise.all(streams))
        assert.match(stream.text, /five[^]*\[DONE\]/);
      await replica.start();
      await move(`gateway-${index + 1}`, replica.url);
    }
    t.diagnostic(`${requests} requests, none failed`);
  },
);

/** Returns a copy with new secrets. */
function copyOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-compose-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(source, folder, { recursive: true, filter: (path) => !path.endsWith('secrets') });
  execFileSync('sh', [join(folder, 'make-secrets.sh')]);
  return folder;
}

async function read(folder: string): Promise<Project> {
  const { stdout } = await promisify(execFile)(checker, [join(folder, 'compose.yaml')]);
  return JSON.parse(stdout) as Project;
}

function secondsOf(duration = ''): number {
  const [, minutes = 0, seconds = 0] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

/** Two gateways with the settings of deploy/compose, and HAProxy in front of them. */
async function startBehindProxy(t: TestContext) {
  const settings = parse(
    readFileSync(join(source, 'tollgate.yaml'), 'utf8').replace(
      '${METRICS_TOKEN}',
      'a-token-for-metrics',
    ),
  ) as { readonly server: object };
  // The default, which other tests switch off.
  const server = { ...settings.server, shutdown_delay_ms: 5_000 };
  const gateways = await startReplicaPrograms(t, { count: 2, config: { ...settings, server } });

  const folder = mkdtempSync(join(tmpdir(), 'tollgate-haproxy-'));
  const [configPath, adminSocket] = [join(folder, 'haproxy.cfg'), join(folder, 'admin')];
  let config = readFileSync(join(source, 'haproxy.cfg'), 'utf8');
  const replace = (from: string, to: string) => {
    assert.equal(config.split(from).length, 2, `${from} is not there once`);
    config = config.replace(from, to);
  };
  replace('bind :8080', 'bind fd@3');
  replace('\nglobal\n', `\nglobal\n    stats socket ${adminSocket} level admin\n`);
  for (const [index, replica] of gateways.replicas.entries())
    replace(` gateway-${index + 1}:4000`, ` ${new URL(replica.url).host}`);
  writeFileSync(configPath, config);

  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  // oxlint-disable-next-line eslint/no-underscore-dangle -- HAProxy gets the open socket, so that no port is chosen before it is bound
  const { fd } = (listener as unknown as { _handle: { fd: number } })._handle;
  const proxy = spawn('haproxy', ['-db', '-f', configPath], {
    env,
    stdio: ['ignore', 'ignore', 'pipe', fd],
  });
  let messages = '';
  proxy.stderr!.setEncoding('utf8').on('data', (piece: string) => (messages += piece));
  t.after(() => {
    proxy.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  listener.close();
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    assert.equal(proxy.exitCode, null, messages);
    return existsSync(adminSocket);
  });
  /** A gateway that started again has another address. With Docker, HAProxy finds it by its name. */
  const move = async (name: string, address: string) => {
    const { hostname, port: newPort } = new URL(address);
    await tell(adminSocket, `set server gateways/${name} addr ${hostname} port ${newPort}`);
    await until(async () =>
      (await tell(adminSocket, 'show servers state gateways')).includes(` ${name} ${hostname} 2 `),
    );
  };
  return { url, move, ...gateways };
}

async function tell(socketPath: string, command: string): Promise<string> {
  const socket = connect(socketPath).setEncoding('utf8');
  socket.end(`${command}\n`);
  return (await socket.toArray()).join('');
}

function isRefused(url: string): Promise<boolean> {
  return send(`${url}/healthz`).then(
    () => false,
    () => true,
  );
}
