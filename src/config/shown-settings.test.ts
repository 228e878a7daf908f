import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYaml } from '../../tests/support/config-file.ts';
import { asFieldSchema, branchesOf, type FieldSchema } from './field-schema.ts';
import { ConfigFile } from './schema.ts';
import { showSettings } from './shown-settings.ts';

/** Every secret once, in its section. */
const everySecret = `
server: { port: 4100 }
database: { url: "postgres://user:seecret-1@host/db" }
metrics: { token: seecret-2-long-enough }
storage: { kind: s3, bucket: pics, access_key_id: seecret-3, secret_access_key: seecret-4, session_token: seecret-5 }
stripe: { secret_key: sk_live_seecret6, webhook_secret: seecret-7 }
providers:
  openai: { api_key: seecret-8 }
`;

function show(yaml: string | null) {
  return showSettings(loadYaml(yaml));
}

test('a secret is shown only as set or not set', () => {
  const settings = show(everySecret);
  assert.doesNotMatch(JSON.stringify(settings), /seecret/);
  const secrets = settings.filter(({ isSecret }) => isSecret);
  for (const path of [
    'database.url',
    'metrics.token',
    'storage.secret_access_key',
    'stripe.secret_key',
    'providers.openai.api_key',
  ]) {
    assert.deepEqual(
      secrets.filter((setting) => setting.path === path).map(({ isSet, value }) => [isSet, value]),
      [[true, null]],
      path,
    );
  }
});

test('telemetry is shown as it is written, without its headers', () => {
  const settings = show(
    'telemetry: { endpoint: "http://127.0.0.1:4318", headers: { token: seecret } }',
  );
  assert.doesNotMatch(JSON.stringify(settings), /seecret/);
  const find = (name: string) => settings.find(({ path }) => path === `telemetry.${name}`)?.value;
  assert.equal(find('endpoint'), 'http://127.0.0.1:4318');
  const unset = show('').find(({ path }) => path === 'telemetry.endpoint');
  assert.deepEqual([unset?.isSet, unset?.isDefault], [false, true]);
});

test('settings of the file and defaults are both shown', () => {
  const settings = show('server: { port: 4100 }');
  const find = (name: string) => settings.find(({ path }) => path === name)!;
  assert.deepEqual([find('server.port').value, find('server.port').isDefault], [4_100, false]);
  assert.deepEqual([find('server.host').value, find('server.host').isDefault], ['127.0.0.1', true]);
  assert.equal(find('stripe.secret_key').isSet, false);
  assert.equal(find('stripe.secret_key').isDefault, true);
  assert.ok(find('server.port').description.length > 0);
});

test('nothing is changed without a file and variables', () => {
  const changed = show(null).filter(({ isDefault }) => !isDefault);
  assert.deepEqual(changed, []);
});

test('every schema field outside named sections is shown', () => {
  const shown = new Set(show('service: {}').map(({ path }) => path));
  const missing = leavesOf(asFieldSchema(ConfigFile), '').filter((path) => !shown.has(path));
  assert.deepEqual(missing, []);
});

function leavesOf(schema: FieldSchema, path: string): string[] {
  const children = branchesOf(schema).flatMap((branch) => Object.entries(branch.properties ?? {}));
  if (branchesOf(schema).some((branch) => branch.patternProperties)) return [];
  if (children.length === 0) return [path];
  return children.flatMap(([name, child]) =>
    leavesOf(child, path === '' ? name : `${path}.${name}`),
  );
}
