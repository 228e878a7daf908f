// AWS's own SDK judges ours: with the same variables, the same services are asked the same for the
// credential of a machine, and the same keys come out. Both ask a local service, over HTTP.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { isObject } from '../../src/lib/json.ts';
import { openCredential } from '../../src/providers/bedrock/credential.ts';
import type { CredentialTools } from '../../src/providers/credential.ts';
import { TestClock } from '../support/test-clock.ts';
import { answerBytes, answerJson, startUpstream } from '../support/upstream.ts';

const home = mkdtempSync(join(tmpdir(), 'tollgate-aws-'));
after(() => rmSync(home, { recursive: true }));
const file = join(home, 'token');
writeFileSync(file, 'the-token-of-the-file');

const service = await startUpstream({ after });
const ends = '2099-01-01T00:00:00Z';
const keysOf = (name: string) => ({
  AccessKeyId: `ASIA${name.toUpperCase().padEnd(12, 'X')}`,
  SecretAccessKey: `secret/of/${name}`.padEnd(40, 'x'),
  Token: `session-of-${name}`,
  Expiration: ends,
});
const roles = '/latest/meta-data/iam/security-credentials/';
service.on('/latest/api/token', answerBytes(Buffer.from('session-1')));
service.on(roles, answerBytes(Buffer.from('role-1')));
service.on(`${roles}role-1`, answerJson({ Code: 'Success', ...keysOf('instance') }));
service.on('/container', answerJson(keysOf('container')));
const { AccessKeyId, SecretAccessKey, Token } = keysOf('identity');
const xml = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${AccessKeyId}</AccessKeyId><SecretAccessKey>${SecretAccessKey}</SecretAccessKey><SessionToken>${Token}</SessionToken><Expiration>${ends}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
service.on('/', answerBytes(Buffer.from(xml), { headers: { 'content-type': 'text/xml' } }));

const instance = { AWS_EC2_METADATA_SERVICE_ENDPOINT: service.url };
const container = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${service.url}/container` };
const identity = {
  AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/gateway',
  AWS_WEB_IDENTITY_TOKEN_FILE: file,
  AWS_ROLE_SESSION_NAME: 'session-1',
  AWS_ENDPOINT_URL_STS: service.url,
  AWS_REGION: 'eu-west-1',
};
const own = {
  AWS_ACCESS_KEY_ID: 'AKIAOWN000000000',
  AWS_SECRET_ACCESS_KEY: 'own'.padEnd(40, 'x'),
  AWS_SESSION_TOKEN: 'own-session',
};

const cases: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'keys in the environment': own,
  'a web identity': identity,
  'a container with a token': { ...container, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Basic abc' },
  'a container with the file of a token': {
    ...container,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
  },
  'an instance': instance,
  'keys before everything else': { ...instance, ...container, ...identity, ...own },
  'a web identity before a container': { ...instance, ...container, ...identity },
  'a container before the instance': { ...instance, ...container },
};

const script = `import { defaultProvider } from '@aws-sdk/credential-provider-node';
  const { accessKeyId, sessionToken } = await defaultProvider()();
  console.log(JSON.stringify({ accessKeyId, sessionToken }));`;

async function theirs(env: Readonly<Record<string, string>>): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script],
    { cwd: join(import.meta.dirname, 'aws'), env: { HOME: home, ...env } },
  );
  return JSON.parse(stdout) as unknown;
}

/** The keys are seen in what they sign. */
async function ours(env: Readonly<Record<string, string>>): Promise<unknown> {
  const tools: CredentialTools = {
    clock: new TestClock(),
    env,
    readFile: () => Promise.resolve('the-token-of-the-file\n'),
    async send({ method, url, headers, body }) {
      const reply = await fetch(url, { method, headers, ...(body && { body }) });
      const text = await reply.text();
      return { status: reply.status, body: text.startsWith('{') ? JSON.parse(text) : text };
    },
  };
  const place = { region: 'eu-west-1', project: null, apiVersion: null };
  const headers = await openCredential('ambient', place, tools)!.headersFor({
    method: 'POST',
    url: new URL('https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse'),
    headers: {},
    body: '{}',
  });
  return {
    accessKeyId: /Credential=([^/]+)/.exec(headers['authorization']!)![1],
    sessionToken: headers['x-amz-security-token'],
  };
}

/** What services are asked. AWS's SDK may say more about itself, and its sessions may be longer. */
async function asked(run: () => Promise<unknown>): Promise<unknown> {
  const sent = service.requests.length;
  const keys = await run();
  const calls = service.requests.slice(sent).map(({ method, path, headers, body, text }) => ({
    method,
    path,
    authorization: path === '/' ? null : headers.authorization,
    session: headers['x-aws-ec2-metadata-token'],
    form: path === '/' ? formOf(text) : null,
    hasBody: isObject(body),
  }));
  return { keys, calls };
}

function formOf(text: string): unknown {
  return Object.fromEntries(new URLSearchParams(text));
}

for (const [what, env] of Object.entries(cases))
  test(`${what}: AWS’s own SDK asks the same, and gets the same keys`, async () => {
    assert.deepEqual(await asked(() => ours(env)), await asked(() => theirs(env)));
  });
