// Rotation of the installation's secret while keys, sessions, second factors, links and stored
// answers of the previous one are in use.
import assert from 'node:assert/strict';
import { createImageLinks } from '../../src/domain/images/image-links.ts';
import { createSecret } from '../../src/lib/secrets.ts';
import { registerSecrets } from '../../src/domain/keys/needed-secrets.ts';
import { openHeaders } from '../../src/domain/telemetry/accounts/headers.ts';
import { digestKeyFrom, keyDigest } from '../../src/domain/keys/key-text.ts';
import { after, before, beforeEach, test, testOn } from '../support/both-stores.ts';
import { DashboardClient, quickHash, signIn, visitor } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { setRows } from '../support/rows.ts';
import { ok, send } from '../support/http.ts';
import { numberedAnswers } from '../support/numbered-answers.ts';
import { startRunningApp, type RunningApp } from '../support/running-app.ts';
import { enrol } from '../support/totp.ts';
import { until } from '../support/until.ts';

const chat = endpoint('chat');
const password = 'correct horse battery';
const passwordHash = quickHash(password);
let generation = 0;
/** A new secret for each test and rotation. */
const nextSecret = () => `secret number ${++generation} of these tests and long enough`;

let first: string;
let gateway: TestGateway<RunningApp>;
before(async () => {
  gateway = await startGateway(
    { server: { trust_proxy: true } },
    { env: { TOLLGATE_SECRET: nextSecret() } },
  );
});
beforeEach(async () => {
  first = nextSecret();
  await gateway.program.terminate();
  // Nothing of an earlier test is needed.
  await gateway.database.write.deleteFrom('secrets').execute();
  await setRows(gateway.database, 'api_keys', {}, { revoked_at_ms: 1 });
  await gateway.database.write.deleteFrom('user_two_factors').execute();
  await start(first);
  gateway.upstream.on(chat.upstreamPath, numberedAnswers(chat));
});
after(() => gateway.stop());

function environment(current: string, accepted: readonly string[]) {
  return {
    ...gateway.program.env,
    TOLLGATE_SECRET: current,
    TOLLGATE_SECRETS_ACCEPTED: accepted.join(','),
  };
}

async function start(current: string, ...accepted: readonly string[]): Promise<void> {
  gateway.program.env = environment(current, accepted);
  await gateway.program.start();
}

async function restart(current: string, ...accepted: readonly string[]): Promise<void> {
  await gateway.program.terminate();
  await start(current, ...accepted);
}

const newKey = () => gateway.makeKey({ mode: 'live', creditUsd: 5 });

async function isKnown(key: string): Promise<boolean> {
  const { status } = await gateway.get('/v1/balance', { key });
  assert.ok(status === 200 || status === 401);
  return status === 200;
}

async function rowOf(id: string) {
  return gateway.database.read
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

async function isUnder(
  secret: string,
  { id, key }: { readonly id: string; readonly key: string },
): Promise<boolean> {
  const { digest, secret_id: secretId } = await rowOf(id);
  return (
    digest === keyDigest(digestKeyFrom(createSecret(secret)), key) &&
    secretId === createSecret(secret).id
  );
}

type Status = {
  readonly ending: readonly string[];
  readonly in_use: boolean;
  readonly keys: readonly string[];
  readonly authenticator_apps: number;
  readonly telemetry_accounts: readonly string[];
  readonly users_with_backup_codes: number;
  readonly can_retire: boolean;
};
const statusOfSecrets = () => gateway.program.cli<Status>('secret', 'status');
const retire = (...args: string[]) =>
  gateway.program.cli<{ retired: string[]; lost: string[] }>('secret', 'retire', ...args);

test('keys of each generation work after two rotations, and used ones work without the old secrets', async () => {
  const [second, third] = [nextSecret(), nextSecret()];
  const [oldest, oldestUnused] = [await newKey(), await newKey()];
  await restart(second, first);
  const middle = await newKey();
  await restart(third, second, first);
  const newest = await newKey();
  const asMade = await rowOf(oldest.id);
  for (const made of [oldest, middle, newest]) {
    assert.equal(await isKnown(made.key), true);
    await until(() => isUnder(third, made));
  }
  const { digest: _digest, secret_id: _secretId, ...rest } = await rowOf(oldest.id);
  assert.partialDeepStrictEqual(asMade, rest);
  assert.ok(await isUnder(first, oldestUnused));

  assert.partialDeepStrictEqual(await statusOfSecrets(), {
    in_use: true,
    ending: [second, first].map((text) => createSecret(text).id),
    keys: [oldestUnused.id],
    can_retire: false,
  });
  await assert.rejects(
    retire(),
    new RegExp(
      `cannot be retired yet: 1 API keys were not used since the rotation \\(${oldestUnused.id}\\)`,
    ),
  );
  assert.match((await retire('--force')).lost[0]!, new RegExp(oldestUnused.id));
  await restart(third);
  for (const { key } of [oldest, middle, newest]) assert.equal(await isKnown(key), true);
  assert.equal(await isKnown(oldestUnused.key), false);
});

test('a rehashed key keeps working on a gateway that has it in memory, and a revoked key stays revoked', async () => {
  const second = nextSecret();
  const [used, revoked] = [await newKey(), await newKey()];
  await setRows(gateway.database, 'api_keys', { id: revoked.id }, { revoked_at_ms: 1 });
  await restart(second, first);
  const revision = () => gateway.database.read.selectFrom('revisions').selectAll().execute();
  const earlier = await revision();
  assert.equal(await isKnown(used.key), true);
  await until(() => isUnder(second, used));
  assert.deepEqual(await revision(), earlier, 'no gateway has to read its keys again');
  assert.equal(await isKnown(used.key), true);
  assert.equal(await isKnown(revoked.key), false);
  assert.ok(await isUnder(first, revoked));
});

testOn(
  'sqlite',
  'a gateway without a needed secret does not start and names the missing one',
  async () => {
    const [second, wrong] = [nextSecret(), nextSecret()];
    const made = await newKey();
    const needed = createSecret(first).id;
    const message = new RegExp(`This database needs the secret with the key id ${needed}; given: `);
    for (const given of [[second], [second, wrong]]) {
      const [current, ...accepted] = given.map(createSecret);
      await assert.rejects(registerSecrets(gateway.database, [current!, ...accepted], 0), message);
    }
    await gateway.program.terminate();
    gateway.program.env = environment(second, [wrong]);
    await assert.rejects(gateway.program.cli('keys', 'list'), new RegExp(`key id ${needed}`));
    assert.deepEqual(
      (await gateway.program.cli<{ missing: string[] }>('secret', 'status')).missing,
      [needed],
    );
    await start(second, first);
    assert.equal(await isKnown(made.key), true);
  },
);

test('a stored answer is replayed after a rotation, and without its secret its request counts as done', async () => {
  const second = nextSecret();
  const { key, account } = await newKey();
  const ask = () =>
    gateway.post(chat.path, { key, headers: { 'idempotency-key': 'order-1' }, body: chat.body() });
  const answer = await ok(ask());
  const { postedMicros } = await gateway.balance(account);
  await restart(second, first);
  const replay = await ask();
  assert.deepEqual(
    [replay.status, replay.text],
    [200, answer.text.replace(/"cost":[\d.]+/, '"cost":0')],
  );
  assert.equal(replay.headers['x-service-cache'], 'idempotent-replay');
  await until(async () => (await statusOfSecrets()).keys.length === 0);
  await retire('--force');
  await restart(second);
  const gone = await ask();
  assert.equal(gone.error.code, 'idempotency_body_not_retained');
  assert.match(gone.error.message, /secret that encrypted it has ended/);
  assert.equal((await gateway.balance(account)).postedMicros, postedMicros, 'charged once');
});

testOn(
  'sqlite',
  'kept bodies, links to images and sessions last as long as their secret is accepted',
  async () => {
    const second = nextSecret();
    const { cookie, ...who } = await signIn(gateway, { passwordHash });
    const forged = cookie.replace(
      /\.[^.]+$/,
      `.${encodeURIComponent(Buffer.alloc(32).toString('base64'))}`,
    );
    const statusOf = async (text: string) =>
      (await new DashboardClient(gateway.url, { ...who, cookie: text }).get('/profile')).status;

    const made = await gateway.makeKey({ account: who.account, bodyDays: 7 });
    const { requestId } = await gateway.post(chat.path, { key: made.key, body: chat.body() });
    const { images, observe } = gateway.program.app.gateway;
    await observe.bodies.flush();
    type Shown = { readonly kept: { readonly request: { readonly text: string } } | null };
    const bodies = async () => {
      const user = await signIn(gateway, { account: who.account });
      const path = `/accounts/${who.account}/requests/${requestId}/bodies`;
      const { kept, reason } = (await user.get(path)).json<Shown & { readonly reason: unknown }>();
      return kept === null ? reason : (JSON.parse(kept.request.text) as object);
    };

    const image = {
      bytes: Buffer.from('not looked at'),
      mediaType: 'image/png',
      width: 1,
      height: 1,
    } as const;
    const stored = await images.store.put(image);
    const link = () => createImageLinks([createSecret(first)]).sign(gateway.url, stored);

    const seen = async () => ({
      session: await statusOf(cookie),
      link: (await fetch(link())).status,
      bodies: await bodies(),
    });
    const works = { session: 200, link: 200, bodies: chat.body() };
    assert.deepEqual(await seen(), works);
    await restart(second, first);
    assert.deepEqual(await seen(), works);
    assert.equal(await statusOf(forged), 401);
    await assert.rejects(retire(), /sessions, replays, kept bodies and links to images .* until/);
    await retire('--force');
    await restart(second);
    assert.deepEqual(await seen(), { session: 401, link: 404, bodies: 'unreadable' });
  },
);

testOn(
  'sqlite',
  'an answer cached before a rotation is requested once more, then found again',
  async () => {
    const second = nextSecret();
    const { key } = await newKey();
    const ask = () => gateway.post(chat.path, { key, body: chat.body({ temperature: 0 }) });
    const cacheOf = async () => (await ask()).headers['x-service-cache'];
    assert.deepEqual([await cacheOf(), await cacheOf()], [undefined, 'hit']);
    await restart(second, first);
    assert.deepEqual([await cacheOf(), await cacheOf()], [undefined, 'hit']);
  },
);

test('the second factor survives a rotation: the app without the old secret, backup codes with it', async () => {
  const second = nextSecret();
  const user = await signIn(gateway, { passwordHash });
  const { app, backupCodes: codes } = await enrol(user, password);
  const giveCode = async (body: object) => {
    const client = visitor(gateway);
    assert.deepEqual((await client.post('/auth/sign-in', { email: user.email, password })).json(), {
      next: 'second-factor',
    });
    return (await client.post('/auth/second-factor', body)).status;
  };
  const backup = (index: number) => ({ kind: 'backup', code: codes[index] });
  assert.equal(await giveCode(backup(0)), 200);

  await restart(second, first);
  assert.deepEqual(
    [await giveCode(backup(1)), await giveCode(backup(1)), await giveCode(backup(0))],
    [200, 401, 401],
  );
  assert.partialDeepStrictEqual(await statusOfSecrets(), {
    authenticator_apps: 0,
    users_with_backup_codes: 1,
    can_retire: false,
  });
  await assert.rejects(retire(), /1 users have backup codes from before the rotation/);

  await retire('--force');
  await restart(second);
  assert.equal(await giveCode(backup(2)), 401);
  assert.equal(await giveCode({ code: app.nextCode() }), 200);
});

testOn(
  'postgres',
  'of several gateways at once one rehashes a key; one that still has the old secret does not undo it',
  async (t) => {
    const second = nextSecret();
    const [made, later] = [await newKey(), await newKey()];
    // First all gateways accept the next secret, then one after the other uses it.
    await restart(first, second);
    const env = { TOLLGATE_SECRET: second, TOLLGATE_SECRETS_ACCEPTED: first };
    const databaseUrl = gateway.program.databaseUrl;
    const others = await Promise.all([1, 2].map(() => startRunningApp({ databaseUrl, env })));
    t.after(() => Promise.all(others.map((app) => app.stop())));
    const ask = async (url: string, { key }: { readonly key: string }) =>
      (await send(`${url}/v1/balance`, { key })).status;
    const urls = [gateway.url, ...others.map(({ url }) => url)];
    const calls = urls.flatMap((url) => Array.from({ length: 5 }, () => ask(url, made)));
    assert.deepEqual([...new Set(await Promise.all(calls))], [200]);
    await until(() => isUnder(second, made));

    assert.equal(await ask(others[0]!.url, later), 200);
    await until(() => isUnder(second, later));
    assert.equal(await ask(gateway.url, later), 200);
    // Its open requests have ended by then.
    await gateway.program.terminate();
    assert.ok(await isUnder(second, later));
  },
);

test('the headers of an account’s traces survive a rotation and the end of the old secret', async () => {
  const owner = await signIn(gateway);
  const path = `/accounts/${owner.account}/telemetry`;
  const headers = { authorization: 'key of the account' };
  await owner.patch(path, { endpoint: 'https://otlp.example.com', headers });
  const stored = () =>
    gateway.database.read
      .selectFrom('account_telemetry')
      .selectAll()
      .where('account_id', '=', owner.account)
      .executeTakeFirstOrThrow();
  const sealed = await stored();
  assert.equal(sealed.secret_id, createSecret(first).id);
  const second = nextSecret();
  await restart(second, first);
  const renewed = await stored();
  assert.equal(renewed.secret_id, createSecret(second).id);
  const secrets = [createSecret(second)] as const;
  assert.deepEqual(await openHeaders(secrets, owner.account, renewed.sealed_headers), headers);
  await assert.rejects(openHeaders(secrets, 'acc_of_another', renewed.sealed_headers));
  await assert.rejects(openHeaders(secrets, owner.account, sealed.sealed_headers));
  assert.deepEqual((await statusOfSecrets()).telemetry_accounts, []);
  // An account of a gateway that has not started again.
  await setRows(
    gateway.database,
    'account_telemetry',
    { account_id: owner.account },
    { secret_id: createSecret(first).id, sealed_headers: sealed.sealed_headers },
  );
  assert.deepEqual((await statusOfSecrets()).telemetry_accounts, [owner.account]);
  await assert.rejects(retire(), /traces of 1 accounts/);
  await gateway.database.write.deleteFrom('account_telemetry').execute();
});
