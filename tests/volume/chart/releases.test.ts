// Installs, upgrades and uninstalls the chart with the real Helm, against a simulated Kubernetes API.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { at, chartFolder, helm, release, type Values } from '../../support/chart.ts';
import { type KubernetesApi, startKubernetesApi } from '../../support/kubernetes-api.ts';
import { skipWithoutPython as skip } from '../../support/python.ts';

let api: KubernetesApi;
before(async () => {
  api = await startKubernetesApi();
});
after(() => api.close());
beforeEach(() => {
  api.objects.clear();
  api.log.length = 0;
});

const several: Values = {
  database: { kind: 'postgres' },
  existingSecrets: { database: { name: 'books' } },
  generateSecret: true,
  migrations: { mode: 'job' },
  replicas: 2,
};

/** Runs a command on the release. Returns what it printed. */
async function run(command: 'install' | 'upgrade', values: Values): Promise<string> {
  const args = [command, release, chartFolder, '--kube-apiserver', api.url];
  const { succeeded, output } = await helm(args, values);
  assert.ok(succeeded, output);
  return output;
}

async function uninstall(): Promise<void> {
  const { succeeded, output } = await helm(['uninstall', release, '--kube-apiserver', api.url]);
  assert.ok(succeeded, output);
}

const secretPath = `secrets/${release}-tollgate-secret`;
const deploymentPath = `deployments/${release}-tollgate`;
const claimPath = `persistentvolumeclaims/${release}-tollgate-data`;

function secret(): string {
  const encoded = at(api.objects.get(secretPath), 'data.TOLLGATE_SECRET');
  assert.ok(typeof encoded === 'string', `no secret among ${[...api.objects.keys()].join(', ')}`);
  return Buffer.from(encoded, 'base64').toString();
}

test('the generated secret outlives upgrades and an uninstallation', { skip }, async () => {
  await run('install', several);
  const first = secret();
  assert.match(first, /^[0-9A-Za-z]{64}$/);
  await run('upgrade', { ...several, config: { pricing: { markup: 1.2 } } });
  assert.equal(secret(), first);
  await uninstall();
  assert.ok(!api.objects.has(deploymentPath));
  assert.equal(secret(), first);
  await run('install', several);
  assert.equal(secret(), first);
});

test('each installation has its own secret', { skip }, async () => {
  await run('install', several);
  const first = secret();
  api.objects.clear();
  await run('install', several);
  assert.notEqual(secret(), first);
});

test('the books on SQLite outlive an uninstallation', { skip }, async () => {
  await run('install', {});
  await uninstall();
  assert.ok(api.objects.has(claimPath));
  assert.ok(!api.objects.has(deploymentPath));
  await run('install', {});
  assert.ok(api.objects.has(claimPath));
});

test('the migration runs before the gateways are changed', { skip }, async () => {
  const places = () =>
    [
      `POST configmaps/${release}-tollgate-migrate`,
      `POST jobs/${release}-tollgate-migrate`,
      api.log.find((line) => /^(POST|PATCH|PUT) deployments/.test(line))!,
    ].map((line) => api.log.indexOf(line));
  for (const command of ['install', 'upgrade'] as const) {
    api.log.length = 0;
    await run(command, { ...several, podLabels: { command } });
    const order = places();
    assert.ok(!order.includes(-1), api.log.join('\n'));
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
  }
});

test('Helm prints the first steps, and what to back up', { skip }, async () => {
  const one = await run('install', {});
  assert.match(one, /exec deployment\/gateway-tollgate -- tollgate users first-run-link/);
  assert.match(one, /port-forward service\/gateway-tollgate 8080:80/);
  assert.match(one, /Back up the volume claim gateway-tollgate-data/);
  assert.match(one, /Only pods of these namespaces reach the gateway: default /);
  api.objects.clear();
  const others = await run('install', several);
  assert.match(others, /Back up the Secret gateway-tollgate-secret/);
  assert.match(others, /set config\.storage to an S3 bucket/);
  api.objects.clear();
  const trial = await run('install', { persistence: { enabled: false } });
  assert.match(trial, /THE BOOKS END WITH THE POD/);
});
