import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf, loadYaml } from '../../tests/support/config-file.ts';

const keys = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'the-secret' };

test('by default images are stored in the data folder for seven days and fetched only from public hosts', () => {
  const { storage, images } = loadYaml('service: {}');
  assert.deepEqual(storage, { kind: 'local', keep_days: 7 });
  assert.deepEqual(images.allowed_hosts, []);
});

test('a bucket at AWS needs a name and keys, which may come from the usual variables', () => {
  const { storage } = loadYaml('storage: { kind: s3, bucket: pics, keep_days: 30 }', {
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
  const { storage } = loadYaml(yaml, { ...keys, AWS_SESSION_TOKEN: 'token', MINE: 'own-secret' });
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
});

const s3 = (rest: string) => `storage: { kind: s3, bucket: pics, ${rest} }`;
const refused: Readonly<Record<string, RegExp>> = {
  'storage: { kind: s3 }': /storage\.bucket is required with `kind: s3`/,
  'storage: { bucket: pics }': /storage\.bucket is for `kind: s3` only/,
  'storage: { kind: ftp }': /storage\.kind must be/,
  'storage: { keep_days: 0 }': /storage\.keep_days/,
  [s3('endpoint: minio')]: /storage\.endpoint must be a whole address/,
  [s3('endpoint: "https://s3.example.com/pics"')]: /storage\.endpoint must have no path/,
  [s3('prefix: images')]: /storage\.prefix/,
  [s3('prefix: "../"')]: /storage\.prefix/,
  [s3('access_key_id: mine')]: /storage\.secret_access_key is required/,
  'images: { allowed_hosts: ["*.internal"] }': /images\.allowed_hosts\[0\]/,
  'images: { allowed_hosts: ["http://media.internal"] }': /images\.allowed_hosts\[0\]/,
};
for (const [yaml, message] of Object.entries(refused)) {
  test(`refused by the name of its field: ${yaml}`, () => {
    assert.match(faultOf(yaml, keys).message, message);
  });
}

test('without the usual variables a bucket needs keys', () => {
  assert.match(
    faultOf('storage: { kind: s3, bucket: pics }').message,
    /storage\.access_key_id is required.*AWS_ACCESS_KEY_ID/,
  );
});

test('no message shows a secret', () => {
  const message = faultOf(
    'storage: { kind: s3, bucket: pics, access_key_id: mine, secret_access_key: "se cret" }',
  ).message;
  assert.match(message, /storage\.secret_access_key/);
  assert.ok(!message.includes('se cret'), message);
});
