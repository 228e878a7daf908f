import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError } from './config-error.ts';
import { loadConfig } from './load.ts';

const cwd = mkdtempSync(join(tmpdir(), 'tollgate-storage-'));
after(() => rmSync(cwd, { recursive: true }));

function load(yaml: string, env: Record<string, string> = {}) {
  writeFileSync(join(cwd, 'tollgate.yaml'), yaml);
  return loadConfig({ env, cwd });
}

function fault(yaml: string, env: Record<string, string> = {}): ConfigError {
  try {
    load(yaml, env);
  } catch (error) {
    assert(error instanceof ConfigError);
    return error;
  }
  return assert.fail(`accepted: ${yaml}`);
}

const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'the-secret' };

test('by default images are stored in the data folder for seven days and fetched only from public hosts', () => {
  const { storage, images } = load('service: {}');
  assert.deepEqual(storage, { kind: 'local', keep_days: 7 });
  assert.deepEqual(images.allowed_hosts, []);
});

test('a bucket at AWS needs a name and keys, which may come from the usual variables', () => {
  const { storage } = load('storage: { kind: s3, bucket: pics, keep_days: 30 }', {
    ...keys,
    AWS_REGION: 'eu-central-1',
    AWS_SESSION_TOKEN: 'token',
  });
  assert.deepEqual(storage, {
    kind: 's3',
    keep_days: 30,
    bucket: 'pics',
    region: 'eu-central-1',
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    prefix: 'tollgate/images/',
    path_style: false,
    access_key_id: 'AKID',
    secret_access_key: 'the-secret',
    session_token: 'token',
  });
});

test('a bucket elsewhere is part of the path, and keys of the file and the environment never mix', () => {
  const yaml =
    'storage: { kind: s3, bucket: pics, endpoint: "http://minio:9000/", prefix: "", access_key_id: mine, secret_access_key: "${MINE}" }';
  const { storage } = load(yaml, { ...keys, AWS_SESSION_TOKEN: 'token', MINE: 'own-secret' });
  assert.deepEqual(storage, {
    kind: 's3',
    keep_days: 7,
    bucket: 'pics',
    region: 'us-east-1',
    endpoint: 'http://minio:9000',
    prefix: '',
    path_style: true,
    access_key_id: 'mine',
    secret_access_key: 'own-secret',
    session_token: null,
  });
  assert.match(
    fault('storage: { kind: s3, bucket: pics, access_key_id: mine }', keys).message,
    /storage\.secret_access_key is required/,
  );
});

test('a missing or misplaced field is named', () => {
  assert.match(
    fault('storage: { kind: s3 }', keys).message,
    /storage\.bucket is required with `kind: s3`/,
  );
  assert.match(
    fault('storage: { kind: s3, bucket: pics }').message,
    /storage\.access_key_id is required.*AWS_ACCESS_KEY_ID/,
  );
  assert.match(
    fault('storage: { bucket: pics }').message,
    /storage\.bucket is for `kind: s3` only/,
  );
  assert.match(fault('storage: { kind: ftp }').message, /storage\.kind must be/);
  assert.match(fault('storage: { keep_days: 0 }').message, /storage\.keep_days/);
  const s3 = (rest: string) => fault(`storage: { kind: s3, bucket: pics, ${rest} }`, keys).message;
  assert.match(s3('endpoint: minio'), /storage\.endpoint must be a whole address/);
  assert.match(
    s3('endpoint: "https://s3.example.com/pics"'),
    /storage\.endpoint must have no path/,
  );
  assert.match(s3('prefix: images'), /storage\.prefix/);
  assert.match(s3('prefix: "../"'), /storage\.prefix/);
  assert.match(
    fault('images: { allowed_hosts: ["*.internal"] }').message,
    /images\.allowed_hosts\[0\]/,
  );
  assert.match(
    fault('images: { allowed_hosts: ["http://media.internal"] }').message,
    /images\.allowed_hosts\[0\]/,
  );
});

test('no message shows a secret', () => {
  const message = fault(
    'storage: { kind: s3, bucket: pics, access_key_id: mine, secret_access_key: "se cret" }',
  ).message;
  assert.match(message, /storage\.secret_access_key/);
  assert.ok(!message.includes('se cret'), message);
});
