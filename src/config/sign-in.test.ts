import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYaml } from '../../tests/support/config-file.ts';

test('by default sign-up is closed, without a mail server or an identity provider', () => {
  const { signup, smtp, oidc } = loadYaml('log: {}\n');
  assert.deepEqual(
    { signup, smtp, oidc },
    { signup: { open: false, initial_credit_usd: 0 }, smtp: null, oidc: null },
  );
});

test('the environment completes and overrides the sections', () => {
  const text =
    'smtp: { url: "smtps://a:b@mail.example", from: "Gate <no-reply@example.com>" }\n' +
    'oidc: { issuer: "https://id.example/", client_id: a, client_secret: ${SECRET} }\n';
  const written = loadYaml(text, { SECRET: 'hush' });
  assert.deepEqual(written.oidc, {
    issuer: 'https://id.example',
    client_id: 'a',
    client_secret: 'hush',
    name: 'single sign-on',
    scopes: ['openid', 'email', 'profile'],
    trust_email: false,
  });
  const env = {
    SECRET: 'hush',
    SMTP_URL: 'smtp://other.example',
    OIDC_CLIENT_ID: 'b',
    OIDC_NAME: 'Acme',
  };
  const over = loadYaml(text, env);
  assert.deepEqual(over.smtp, { url: 'smtp://other.example', from: 'Gate <no-reply@example.com>' });
  assert.partialDeepStrictEqual(over.oidc, { client_id: 'b', client_secret: 'hush', name: 'Acme' });
});

test('line breaks at the end of variables are dropped, and the address of the discovery is the issuer’s', () => {
  const { oidc, smtp } = loadYaml('log: {}\n', {
    OIDC_ISSUER: 'https://id.example/realm/.well-known/openid-configuration\n',
    OIDC_CLIENT_ID: 'a\n',
    OIDC_CLIENT_SECRET: 'b\n',
    SMTP_URL: 'smtp://mail.example\n',
    SMTP_FROM: 'a@b.c\n',
  });
  assert.partialDeepStrictEqual(oidc, {
    issuer: 'https://id.example/realm',
    client_id: 'a',
    client_secret: 'b',
  });
  assert.deepEqual(smtp, { url: 'smtp://mail.example', from: 'a@b.c' });
});

test('invalid settings are refused with a remedy and without the password', () => {
  const cases: readonly (readonly [
    text: string,
    env: Readonly<Record<string, string>>,
    message: RegExp,
  ])[] = [
    ['smtp: { url: "http://me:hush@mail", from: a@b.c }', {}, /smtp\.url.* must be like smtp:/s],
    ['smtp: { url: "smtp://mail" }', {}, /smtp\.from/],
    ['smtp: { url: "smtp://me:hush@mail:465", from: a@b.c }', {}, /smtp\.url.* begin with smtps:/s],
    [
      'smtp: { url: "smtps://me:hush@mail:587", from: a@b.c }',
      {},
      /smtp\.url.* begin with smtps:/s,
    ],
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
      () => loadYaml(`${text}\n`, env),
      (error: Error) => message.test(error.message) && !error.message.includes('hush'),
      text,
    );
  }
});

test('plain http beyond this machine causes a warning', () => {
  const warned = (text: string) =>
    loadYaml(`${text}\n`).warnings.some((warning) => warning.includes('plain http'));
  assert.equal(warned('log: {}'), false);
  assert.equal(warned('server: { host: 0.0.0.0 }'), true);
  assert.equal(warned('server: { host: 0.0.0.0, trust_proxy: 1 }'), false);
  assert.equal(warned('server: { host: 0.0.0.0, public_url: "https://gate.example" }'), false);
  assert.equal(warned('server: { public_url: "http://gate.example" }'), true);
});
