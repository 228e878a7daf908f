// Microsoft's and Google's own code judges ours: for the same credential, a token service is sent the
// same fields. Theirs is given a client that records, or the address of a local service.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import {
  ClientSecretCredential,
  ManagedIdentityCredential,
  WorkloadIdentityCredential,
  type TokenCredentialOptions,
} from '@azure/identity';
import { ExternalAccountClient, gaxios, GoogleAuth } from 'google-auth-library';
import { decodeJwt } from 'jose';
import { openCredential as openEntra } from '../src/providers/azure/credential.ts';
import type { CredentialTools } from '../src/providers/credential.ts';
import { openCredential as openGoogle } from '../src/providers/vertex/credential.ts';
import { toolsWith } from './support/credential-tools.ts';
import { answerJson, startUpstream } from './support/upstream.ts';

const place = { region: null, project: null, apiVersion: null };
const request = {
  method: 'POST',
  url: new URL('https://x.example'),
  headers: {},
  body: '',
} as const;
const token = { access_token: 'T', token_type: 'Bearer', expires_in: 3_599 };
const folder = await mkdtemp(join(tmpdir(), 'cloud-judges-'));
after(() => rm(folder, { recursive: true }));
const file = join(folder, 'token');
await writeFile(file, 'file-token');

/** What a token service is sent. `fields`: of its form or its query. */
type Sent = {
  readonly method: string;
  readonly address: string;
  readonly fields: Readonly<Record<string, string>>;
};

function read(method: string, text: string, body: string | URLSearchParams): Sent {
  const url = new URL(text);
  return {
    method,
    address: url.origin + url.pathname,
    fields: Object.fromEntries([...url.searchParams, ...new URLSearchParams(body)]),
  };
}

/** What our code sends for a key. Every address in `answers` gives a token. */
async function ours(
  open: typeof openEntra,
  {
    apiKey,
    env = {},
    addresses,
  }: {
    readonly apiKey: string;
    readonly env?: CredentialTools['env'];
    readonly addresses: readonly string[];
  },
  files: Readonly<Record<string, string>> = { [file]: 'file-token' },
): Promise<{ readonly sent: Sent[]; readonly lines: readonly string[] }> {
  const answers = Object.fromEntries(
    addresses.map((address) => [address, { status: 200, body: { ...token, accessToken: 'A' } }]),
  );
  const { tools, asked } = toolsWith(env, answers, undefined, files);
  await open(apiKey, place, tools)!.headersFor(request);
  const sent = asked.map((line) => {
    const [method, url, , body] = line.split(' ') as [string, string, string, string];
    return read(method, url, body);
  });
  return { sent, lines: asked };
}

const scope = 'https://cognitiveservices.azure.com/.default';
const entra = 'https://login.microsoftonline.com/tenant-1/oauth2/v2.0/token';

/** What Microsoft's code sends, without what it tells about itself. */
async function microsofts(
  open: (options: TokenCredentialOptions) => { getToken: (scope: string) => Promise<unknown> },
): Promise<Sent[]> {
  const sent: Sent[] = [];
  const httpClient: TokenCredentialOptions['httpClient'] = {
    sendRequest: (asked) => {
      const { method, url, body, headers } = asked;
      const { fields, ...rest } = read(method, url, typeof body === 'string' ? body : '');
      const own = Object.entries(fields).filter(([name]) => !/^(x-|client-request-id)/.test(name));
      sent.push({ ...rest, fields: Object.fromEntries(own) });
      return Promise.resolve({
        request: asked,
        status: 200,
        headers,
        bodyAsText: JSON.stringify({
          ...token,
          expires_on: Math.floor(Date.now() / 1_000) + token.expires_in,
        }),
      });
    },
  };
  await open({ httpClient }).getToken(scope);
  return sent;
}

test('an application’s secret is sent to Entra ID as Microsoft’s code sends it', async () => {
  const secret = 'a:b~c d+é';
  const { sent } = await ours(openEntra, {
    apiKey: `tenant-1:app-1:${secret}`,
    addresses: [`POST ${entra}`],
  });
  assert.deepEqual(
    sent,
    await microsofts(
      (options) =>
        new ClientSecretCredential('tenant-1', 'app-1', secret, {
          ...options,
          disableInstanceDiscovery: true,
        }),
    ),
  );
});

test('a workload’s federated token is sent to Entra ID as Microsoft’s code sends it', async () => {
  const env = {
    AZURE_TENANT_ID: 'tenant-1',
    AZURE_CLIENT_ID: 'app-1',
    AZURE_FEDERATED_TOKEN_FILE: file,
  };
  const { sent } = await ours(openEntra, { apiKey: 'ambient', env, addresses: [`POST ${entra}`] });
  assert.deepEqual(
    sent,
    await microsofts(
      (options) =>
        new WorkloadIdentityCredential({
          ...options,
          disableInstanceDiscovery: true,
          tenantId: 'tenant-1',
          clientId: 'app-1',
          tokenFilePath: file,
        }),
    ),
  );
});

// Microsoft's code decides once in a process where it runs, and keeps what it got: this is a virtual
// machine with an identity of a name.
test('a managed identity is asked for as Microsoft’s code asks', async () => {
  const theirs = await microsofts(
    (options) => new ManagedIdentityCredential({ ...options, clientId: 'app-1' }),
  );
  const query = new URLSearchParams(theirs[0]!.fields);
  const { sent, lines } = await ours(openEntra, {
    apiKey: 'ambient',
    env: { AZURE_CLIENT_ID: 'app-1' },
    addresses: [`GET ${theirs[0]!.address}?${query.toString()}`],
  });
  assert.deepEqual(sent, theirs);
  assert.match(lines[0]!, /"metadata":"true"/);
});

// App Service and Container Apps, so in a process of its own, and over HTTP.
test('the identity of an app is asked for as Microsoft’s code asks', async (t) => {
  const service = await startUpstream(t);
  const endsAt = Math.floor(Date.now() / 1_000) + 3_599;
  service.on('/msi/token', answerJson({ ...token, expires_on: endsAt }));
  const env = { IDENTITY_ENDPOINT: `${service.url}/msi/token`, IDENTITY_HEADER: 'header-1' };
  const script = `import { ManagedIdentityCredential } from '@azure/identity';
    await new ManagedIdentityCredential({ clientId: 'app-1' }).getToken('${scope}');`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    env,
  });
  const [asked] = service.requests;
  assert.equal(asked!.headers['x-identity-header'], 'header-1');
  const theirs = read('GET', env.IDENTITY_ENDPOINT, asked!.query);
  const query = new URLSearchParams(theirs.fields);
  const { sent, lines } = await ours(openEntra, {
    apiKey: 'ambient',
    env: { ...env, AZURE_CLIENT_ID: 'app-1' },
    addresses: [`GET ${theirs.address}?${query.toString()}`],
  });
  assert.deepEqual(sent, [theirs]);
  assert.match(lines[0]!, /"x-identity-header":"header-1"/);
});

const cloudPlatform = 'https://www.googleapis.com/auth/cloud-platform';

test('a service account is asserted as Google’s code asserts it', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const account = {
    type: 'service_account',
    client_email: 'gateway@my-project.iam.gserviceaccount.com',
    private_key_id: 'key-7',
    private_key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
  const theirs: Sent[] = [];
  const transporter = new gaxios.Gaxios({
    fetchImplementation: (url, init) => {
      theirs.push(read(init!.method!, (url as URL).href, init!.body as URLSearchParams));
      return Promise.resolve(Response.json(token));
    },
  });
  const google = new GoogleAuth({
    credentials: account,
    scopes: [cloudPlatform],
    clientOptions: { transporter },
  });
  await google.getAccessToken();
  const { sent } = await ours(openGoogle, {
    apiKey: JSON.stringify(account),
    addresses: [`POST ${theirs[0]!.address}`],
  });
  const claimed = ({ fields: { assertion, ...fields }, ...rest }: Sent) => {
    const { iat, exp, ...claims } = decodeJwt(assertion!);
    return { ...rest, fields, claims, lastsSeconds: exp! - iat! };
  };
  assert.deepEqual(sent.map(claimed), theirs.map(claimed));
});

test('an external account’s token is exchanged, and a service account acted as, as Google’s code does', async (t) => {
  const service = await startUpstream(t);
  service.on('/v1/token', answerJson(token));
  const expireTime = new Date(Date.now() + 3_600_000).toISOString();
  service.on('/act', answerJson({ accessToken: 'A', expireTime }));
  const document = {
    type: 'external_account' as const,
    audience:
      '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${service.url}/v1/token`,
    service_account_impersonation_url: `${service.url}/act`,
    credential_source: { file },
  };
  const google = ExternalAccountClient.fromJSON({ ...document, scopes: [cloudPlatform] });
  await google!.getAccessToken();
  const [exchange, act] = service.requests;
  const path = join(folder, 'account.json');
  const { sent, lines } = await ours(
    openGoogle,
    {
      apiKey: 'ambient',
      env: { GOOGLE_APPLICATION_CREDENTIALS: path },
      addresses: ['/v1/token', '/act'].map((name) => `POST ${service.url}${name}`),
    },
    { [file]: 'file-token', [path]: JSON.stringify(document) },
  );
  assert.deepEqual(sent[0], read('POST', `${service.url}/v1/token`, exchange!.text));
  const { scope: scopes, lifetime } = act!.body as { scope: string[]; lifetime: string };
  assert.equal(lifetime, '3600s', 'what Google takes for a lifetime that is not named');
  assert.ok(lines[1]!.endsWith(JSON.stringify({ scope: scopes })), lines[1]);
  assert.equal(act!.headers.authorization, 'Bearer T');
  assert.match(lines[1]!, /"authorization":"Bearer T"/);
});
