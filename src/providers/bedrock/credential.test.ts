// Signatures against published-form vectors, and the keys of the machine in AWS's order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClock } from '../../../tests/support/test-clock.ts';
import { readVectors } from '../../../tests/support/cloud-recordings.ts';
import { toolsWith } from '../../../tests/support/credential-tools.ts';
import type { CredentialError, CredentialTools } from '../credential.ts';
import { openCredential } from './credential.ts';

const place = { region: 'us-east-1', project: null, apiVersion: null };

const keyed = (apiKey: string, tools: CredentialTools) => openCredential(apiKey, place, tools)!;
const request = {
  method: 'POST',
  url: new URL('https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse'),
  headers: {},
  body: '{}',
} as const;

async function accessKeyOf(tools: CredentialTools): Promise<string> {
  const { authorization } = await keyed('ambient', tools).headersFor(request);
  return /Credential=([^/]+)/.exec(authorization!)![1]!;
}

const ends = new Date(new TestClock().nowMs() + 3_600_000).toISOString();
const found = (id: string) => ({ AccessKeyId: id, SecretAccessKey: 'secret', Expiration: ends });

type Vectors = {
  sigv4: {
    url: string;
    body: string;
    region: string;
    access_key_id: string;
    secret_access_key: string;
    signature: string;
    with_session_token: { session_token: string; signature: string };
  };
};

test('a request has the signature of the vectors, with and without a session token', async (t) => {
  const vectors = (readVectors() as Vectors | null)?.sigv4;
  if (!vectors) return t.skip('no vectors');
  const clock = { nowMs: () => Date.parse('2026-11-27T12:00:00Z') };
  for (const session of [null, vectors.with_session_token]) {
    const env = {
      AWS_ACCESS_KEY_ID: vectors.access_key_id,
      AWS_SECRET_ACCESS_KEY: vectors.secret_access_key,
      ...(session && { AWS_SESSION_TOKEN: session.session_token }),
    };
    const { tools } = toolsWith(env, {}, clock);
    const headers = await keyed('ambient', tools).headersFor({
      method: 'POST',
      url: new URL(vectors.url),
      headers: { 'content-type': 'application/json' },
      body: vectors.body,
    });
    assert.match(headers['authorization']!, new RegExp((session ?? vectors).signature));
  }
});

test('a Bedrock key is no credential of its own, and access keys are', () => {
  const { tools } = toolsWith({});
  assert.equal(openCredential('bedrock-api-key-YmVkcm9jaw==', place, tools), null);
  assert.ok(openCredential(`AKIA${'A'.repeat(16)}:${'s'.repeat(40)}`, place, tools));
  assert.ok(openCredential(`ASIA${'A'.repeat(16)}:${'s'.repeat(40)}:token/+=`, place, tools));
});

test('the machine’s keys come from the first source that it has', async () => {
  const sts = 'POST https://sts.us-east-1.amazonaws.com/';
  const role = 'http://169.254.169.254/latest/meta-data/iam/security-credentials/';
  const answers = {
    [sts]: {
      status: 200,
      body: {
        AssumeRoleWithWebIdentityResponse: {
          AssumeRoleWithWebIdentityResult: {
            Credentials: { ...found('WEB'), SessionToken: 's', Expiration: 1_900_000_000 },
          },
        },
      },
    },
    'GET http://169.254.170.2/v2/creds': { status: 200, body: { ...found('ECS'), Token: 't' } },
    'GET http://127.0.0.1/full': { status: 200, body: { ...found('FULL'), Token: 't' } },
    'PUT http://169.254.169.254/latest/api/token': { status: 200, body: 'session' },
    [`GET ${role}`]: { status: 200, body: 'my role\n' },
    [`GET ${role}my%20role`]: {
      status: 200,
      body: { ...found('EC2'), Token: 't', Code: 'Success' },
    },
  };
  const web = { AWS_ROLE_ARN: 'arn:aws:iam::1:role/r', AWS_WEB_IDENTITY_TOKEN_FILE: '/token' };
  const relative = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/v2/creds' };
  const full = {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1/full',
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: '/token',
  };
  const env = { AWS_ACCESS_KEY_ID: 'ENV', AWS_SECRET_ACCESS_KEY: 'secret' };
  for (const [expected, variables] of [
    ['ENV', { ...env, ...web, ...relative }],
    ['WEB', { ...web, ...relative }],
    ['ECS', relative],
    ['FULL', full],
    ['EC2', {}],
  ] as const)
    assert.equal(await accessKeyOf(toolsWith(variables, answers).tools), expected);
  const { tools, asked } = toolsWith(full, answers);
  await accessKeyOf(tools);
  assert.match(asked[0]!, /"authorization":"file-token"/);
});

test('an address says its region, also in the European Sovereign Cloud', async () => {
  const { tools } = toolsWith({ AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 's' });
  const nowhere = openCredential('ambient', { ...place, region: null }, tools)!;
  for (const region of ['us-gov-west-1', 'eusc-de-east-1']) {
    const url = new URL(`https://bedrock-runtime.${region}.amazonaws.eu/model/m/converse`);
    const { authorization } = await nowhere.headersFor({ ...request, url });
    assert.match(authorization!, new RegExp(`/${region}/bedrock/`));
  }
});

test('STS is also understood in XML, and its refusal is told in its own words', async () => {
  const env = { AWS_ROLE_ARN: 'r', AWS_WEB_IDENTITY_TOKEN_FILE: '/token', AWS_REGION: 'eu-west-1' };
  const sts = 'POST https://sts.eu-west-1.amazonaws.com/';
  const xml = `<R><Credentials><AccessKeyId>XML</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${ends}</Expiration></Credentials></R>`;
  const { tools } = toolsWith(env, { [sts]: { status: 200, body: xml } });
  assert.equal(await accessKeyOf(tools), 'XML');
  const refusal = { Error: { Code: 'ExpiredTokenException', Message: 'Token expired' } };
  const refused = toolsWith(env, { [sts]: { status: 400, body: refusal } }).tools;
  await assert.rejects(accessKeyOf(refused), (error: CredentialError) => {
    assert.equal(error.message, 'STS gives no token: Token expired');
    return error.isRefused;
  });
});

test('a missing token file, and an instance without a role, say what is wrong', async () => {
  const missing = { AWS_ROLE_ARN: 'r', AWS_WEB_IDENTITY_TOKEN_FILE: '/nowhere' };
  await assert.rejects(accessKeyOf(toolsWith(missing).tools), /cannot be read: \/nowhere/);
  const answers = {
    'PUT http://169.254.169.254/latest/api/token': { status: 200, body: 'session' },
    'GET http://169.254.169.254/latest/meta-data/iam/security-credentials/': {
      status: 404,
      body: '<html>Not Found</html>',
    },
  };
  await assert.rejects(accessKeyOf(toolsWith({}, answers).tools), /the instance gives no token/);
});
