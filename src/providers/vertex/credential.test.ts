// Tokens of Google Cloud: of a service account, an external account and the machine.
import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { test } from 'node:test';
import { toolsWith } from '../../../tests/support/credential-tools.ts';
import type { CredentialTools } from '../credential.ts';
import { openCredential } from './credential.ts';

const place = { region: null, project: 'p', apiVersion: null };
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const account = {
  type: 'service_account',
  client_email: 'a@p.iam.gserviceaccount.com',
  private_key_id: 'k1',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  token_uri: 'https://elsewhere.example/token',
};
const token = { status: 200, body: { access_token: 'G', expires_in: 3_599 } };
const google = 'POST https://oauth2.googleapis.com/token';
const sts = 'POST https://sts.googleapis.com/v1/token';

async function headersOf(apiKey: string, tools: CredentialTools) {
  const url = new URL('https://aiplatform.googleapis.com');
  return openCredential(apiKey, place, tools)!.headersFor({
    method: 'POST',
    url,
    headers: {},
    body: '',
  });
}

/** Of a file that the variable names. */
const inFile = (document: object, answers: Parameters<typeof toolsWith>[1], more: object = {}) =>
  toolsWith({ GOOGLE_APPLICATION_CREDENTIALS: '/account.json' }, answers, undefined, {
    '/account.json': JSON.stringify(document),
    ...more,
  });

test('a service account in the settings signs its assertion for Google, whatever address it names', async () => {
  const { tools, asked } = toolsWith({}, { [google]: token });
  assert.deepEqual(await headersOf(JSON.stringify(account), tools), { authorization: 'Bearer G' });
  const form = new URLSearchParams(asked[0]!.slice(asked[0]!.lastIndexOf(' ') + 1));
  const [head, claims, signature] = form.get('assertion')!.split('.') as [string, string, string];
  const decoded = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<
    string,
    unknown
  >;
  assert.equal(decoded['aud'], 'https://oauth2.googleapis.com/token');
  assert.equal(decoded['iss'], account.client_email);
  const signed = Buffer.from(`${head}.${claims}`);
  assert.ok(verify('RSA-SHA256', signed, publicKey, Buffer.from(signature, 'base64url')));
});

test('a private key whose line ends were escaped twice is read', async () => {
  const escaped = { ...account, private_key: String(account.private_key).replaceAll('\n', '\\n') };
  const { tools } = toolsWith({}, { [google]: token });
  assert.deepEqual(await headersOf(JSON.stringify(escaped), tools), { authorization: 'Bearer G' });
});

test('a service account in a file of the machine may name the address of its tokens', async () => {
  const { tools } = inFile(account, { 'POST https://elsewhere.example/token': token });
  assert.deepEqual(await headersOf('ambient', tools), { authorization: 'Bearer G' });
});

const external = {
  type: 'external_account',
  audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: 'https://sts.googleapis.com/v1/token',
  credential_source: { file: '/token' },
};

test('an external account exchanges the token of its file, or of its platform’s address', async () => {
  const fromFile = inFile(external, { [sts]: token }, { '/token': 'subject-1\n' });
  assert.deepEqual(await headersOf('ambient', fromFile.tools), { authorization: 'Bearer G' });
  assert.match(fromFile.asked[0]!, /subject_token=subject-1$/);
  const source = {
    url: 'http://169.254.169.254/token',
    headers: { Metadata: 'true' },
    format: { type: 'json', subject_token_field_name: 'id' },
  };
  const fromUrl = inFile(
    { ...external, credential_source: source },
    {
      [sts]: token,
      'GET http://169.254.169.254/token': { status: 200, body: { id: 'subject-2' } },
    },
  );
  assert.deepEqual(await headersOf('ambient', fromUrl.tools), { authorization: 'Bearer G' });
  assert.match(fromUrl.asked[0]!, /"metadata":"true"/);
  assert.match(fromUrl.asked[1]!, /subject_token=subject-2$/);
});

test('an identity of AWS is refused before anything of the machine is sent', async () => {
  const url = 'http://169.254.169.254/latest/meta-data/iam/security-credentials';
  const source = { environment_id: 'aws1', url };
  const { tools, asked } = inFile({ ...external, credential_source: source }, { [sts]: token });
  await assert.rejects(headersOf('ambient', tools), /identity of AWS.*service account/);
  assert.deepEqual(asked, []);
});

test('an external account acts as the service account that it names', async () => {
  const address =
    'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@p:generateAccessToken';
  const acting = { status: 200, body: { accessToken: 'ACT', expireTime: '2030-01-01T00:00:00Z' } };
  const document = { ...external, service_account_impersonation_url: address };
  const { tools, asked } = inFile(
    document,
    { [sts]: token, [`POST ${address}`]: acting },
    { '/token': 's' },
  );
  assert.deepEqual(await headersOf('ambient', tools), { authorization: 'Bearer ACT' });
  assert.match(asked[1]!, /"authorization":"Bearer G"/);
});

test('the machine’s token comes from the metadata server when no file is named', async () => {
  const path = '/computeMetadata/v1/instance/service-accounts/default/token';
  const { tools, asked } = toolsWith({}, { [`GET http://metadata.google.internal${path}`]: token });
  assert.deepEqual(await headersOf('ambient', tools), { authorization: 'Bearer G' });
  assert.match(asked[0]!, /"metadata-flavor":"Google"/);
});

test('what is no credential says so, without a word of it', async () => {
  const { tools } = toolsWith({});
  for (const [text, why] of [
    [JSON.stringify(external), /GOOGLE_APPLICATION_CREDENTIALS/],
    ['{"type":"authorized_user","client_secret":"s3cr3t"}', /only the JSON of a service account/],
    [JSON.stringify({ ...account, private_key: 's3cr3t' }), /private_key/],
    ['{', /only the JSON/],
  ] as const)
    await assert.rejects(headersOf(text, tools), (error: Error) => {
      assert.match(error.message, why);
      assert.doesNotMatch(error.message, /s3cr3t/);
      return true;
    });
  assert.equal(openCredential('express-key', place, tools), null);
});
