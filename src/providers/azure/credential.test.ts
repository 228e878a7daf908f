// Tokens of Entra ID: of an application, a workload identity and a managed identity.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolsWith } from '../../../tests/support/credential-tools.ts';
import type { CredentialTools } from '../credential.ts';
import { openCredential } from './credential.ts';

const place = { region: null, project: null, apiVersion: null };
const token = { status: 200, body: { access_token: 'T', expires_in: 3_599 } };
const entra = 'POST https://login.microsoftonline.com/tenant-1/oauth2/v2.0/token';
const resource = 'https%3A%2F%2Fcognitiveservices.azure.com';

async function headersOf(apiKey: string, tools: CredentialTools) {
  const request = {
    method: 'POST',
    url: new URL('https://r.openai.azure.com'),
    headers: {},
    body: '',
  };
  return openCredential(apiKey, place, tools)!.headersFor({ ...request, method: 'POST' });
}

test('a key of the resource is sent as it is', () => {
  const { tools } = toolsWith({});
  for (const key of ['0123456789abcdef0123456789abcdef', 'AbC+/=='])
    assert.equal(openCredential(key, place, tools), null);
});

test('an application proves itself with its secret, which may hold any characters', async () => {
  const { tools, asked } = toolsWith({}, { [entra]: token });
  assert.deepEqual(await headersOf('tenant-1:app-1:a:b~c d', tools), { authorization: 'Bearer T' });
  assert.match(asked[0]!, /client_id=app-1&client_secret=a%3Ab%7Ec\+d$/);
});

test('a workload identity proves itself with the token in its file, read anew each time', async () => {
  const env = {
    AZURE_TENANT_ID: 'tenant-1',
    AZURE_CLIENT_ID: 'app-1',
    AZURE_FEDERATED_TOKEN_FILE: '/token',
  };
  const { tools, asked } = toolsWith(env, { [entra]: token });
  assert.deepEqual(await headersOf('ambient', tools), { authorization: 'Bearer T' });
  assert.match(asked[0]!, /client_assertion=file-token$/);
  const missing = toolsWith({ ...env, AZURE_FEDERATED_TOKEN_FILE: '/none' }).tools;
  await assert.rejects(headersOf('ambient', missing), /AZURE_FEDERATED_TOKEN_FILE cannot be read/);
});

test('a national cloud has an authority and a resource of its own', async () => {
  for (const [host, country] of [
    ['login.microsoftonline.us', 'us'],
    ['login.partner.microsoftonline.cn', 'cn'],
  ] as const) {
    const env = { AZURE_AUTHORITY_HOST: `https://${host}` };
    const own = `https%3A%2F%2Fcognitiveservices.azure.${country}`;
    const application = toolsWith(env, {
      [`POST https://${host}/tenant-1/oauth2/v2.0/token`]: token,
    });
    assert.deepEqual(await headersOf('tenant-1:app-1:s', application.tools), {
      authorization: 'Bearer T',
    });
    assert.ok(application.asked[0]!.includes(`scope=${own}%2F.default`), application.asked[0]);
    const machine = `GET http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${own}`;
    await headersOf('ambient', toolsWith(env, { [machine]: token }).tools);
  }
});

test('a managed identity is asked at the machine’s address, or at that of its platform', async () => {
  const machine = `GET http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${resource}`;
  const first = toolsWith({}, { [machine]: token });
  assert.deepEqual(await headersOf('ambient', first.tools), { authorization: 'Bearer T' });
  assert.match(first.asked[0]!, /"metadata":"true"/);
  const hosted = `GET http://127.0.0.1:41000/msi?api-version=2019-08-01&resource=${resource}&client_id=app-1`;
  const env = {
    IDENTITY_ENDPOINT: 'http://127.0.0.1:41000/msi',
    IDENTITY_HEADER: 'h-1',
    AZURE_CLIENT_ID: 'app-1',
  };
  const second = toolsWith(env, { [hosted]: token });
  assert.deepEqual(await headersOf('ambient', second.tools), { authorization: 'Bearer T' });
  assert.match(second.asked[0]!, /"x-identity-header":"h-1"/);
});
