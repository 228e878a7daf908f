import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { loadConfig } from './load.ts';

function load(t: TestContext, text: string, env: Readonly<Record<string, string>> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
  t.after(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, 'tollgate.yaml'), text);
  return loadConfig({ env, cwd });
}

test('by default sign-up is closed, without a mail server or an identity provider', (t) => {
  const { signup, smtp, oidc } = load(t, 'log: {}\n');
  assert.deepEqual(
    { signup, smtp, oidc },
    { signup: { open: false, initial_credit_usd: 0 }, smtp: null, oidc: null },
  );
});

test('the environment completes and overrides the sections', (t) => {
  const text =
    'smtp: { url: "smtps://a:b@mail.example", from: "Gate <no-reply@example.com>" }\n' +
    'oidc: { issuer: "https://id.example/", client_id: a, client_secret: ${SECRET} }\n';
  const written = load(t, text, { SECRET: 'hush' });
  assert.deepEqual(written.oidc, {
    issuer: 'https://id.example',
    client_id: 'a',
    client_secret: 'hush',
    name: 'single sign-on',
    scopes: ['openid', 'email', 'profile'],
  });
  const env = {
    SECRET: 'hush',
    SMTP_URL: 'smtp://other.example',
    OIDC_CLIENT_ID: 'b',
    OIDC_NAME: 'Acme',
  };
  const over = load(t, text, env);
  assert.deepEqual(over.smtp, { url: 'smtp://other.example', from: 'Gate <no-reply@example.com>' });
  assert.partialDeepStrictEqual(over.oidc, { client_id: 'b', client_secret: 'hush', name: 'Acme' });
});

test('invalid settings are refused with a remedy and without the password', (t) => {
  const cases: readonly (readonly [
    text: string,
    env: Readonly<Record<string, string>>,
    message: RegExp,
  ])[] = [
    ['smtp: { url: "http://me:hush@mail", from: a@b.c }', {}, /smtp\.url.* must be like smtp:/s],
    ['smtp: { url: "smtp://mail" }', {}, /smtp\.from/],
    ['log: {}', { SMTP_URL: 'smtp://me:hush@mail' }, /SMTP_FROM.* must be the address/s],
    ['log: {}', { SMTP_URL: 'hush', SMTP_FROM: 'a@b.c' }, /SMTP_URL.* must be like/s],
    [
      'oidc: { issuer: "http://id.example", client_id: a, client_secret: b }',
      {},
      /oidc\.issuer.* https:/s,
    ],
    ['oidc: { issuer: id, client_id: a, client_secret: b }', {}, /oidc\.issuer.* whole address/s],
    ['log: {}', { OIDC_ISSUER: 'https://id.example' }, /OIDC_CLIENT_ID.* must be set/s],
    ['signup: { initial_credit_usd: 0.0000001 }', {}, /signup\.initial_credit_usd.* six decimals/s],
  ];
  for (const [text, env, message] of cases) {
    assert.throws(
      () => load(t, `${text}\n`, env),
      (error: Error) => message.test(error.message) && !error.message.includes('hush'),
      text,
    );
  }
});

test('plain http beyond this machine causes a warning', (t) => {
  const warned = (text: string) =>
    load(t, `${text}\n`).warnings.some((warning) => warning.includes('plain http'));
  assert.equal(warned('log: {}'), false);
  assert.equal(warned('server: { host: 0.0.0.0 }'), true);
  assert.equal(warned('server: { host: 0.0.0.0, trust_proxy: 1 }'), false);
  assert.equal(warned('server: { host: 0.0.0.0, public_url: "https://gate.example" }'), false);
  assert.equal(warned('server: { public_url: "http://gate.example" }'), true);
});
