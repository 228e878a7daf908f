// API keys: how clients send them, their limits, and the commands that change them while the
// gateway runs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { listChanges } from '../../src/domain/audit/audit-log.ts';
import { microsFromUsd } from '../../src/lib/money.ts';
import { answerContent } from '../support/answers.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';

const root = join(import.meta.dirname, '..', '..');
const chat = endpoint('chat');
const responses = endpoint('responses');

const clock = new TestClock();
let gateway: TestGateway;

before(async () => {
  gateway = await startGateway({ aliases: { fast: 'gpt-5-mini' } }, { clock });
});
after(() => gateway.stop());

test('a key is taken from Authorization and from x-api-key on every endpoint', async () => {
  const { key } = await gateway.makeKey();
  const reading = [
    '/v1/balance',
    '/v1/usage',
    '/v1/models',
    '/v1/models/info',
    '/v1/models/gpt-5-mini',
  ];
  const ways: Record<string, string>[] = [
    { authorization: `Bearer ${key}` },
    { authorization: `bearer ${key}` },
    { 'x-api-key': key },
  ];
  for (const headers of ways) {
    for (const { path, body } of endpoints) {
      assert.equal((await gateway.post(path, { headers, body: body() })).status, 200, path);
    }
    for (const path of reading)
      assert.equal((await gateway.get(path, { headers })).status, 200, path);
  }
});

test('?api_key= works on /v1/responses and nowhere else, and is not logged', async () => {
  const { key } = await gateway.makeKey();
  assert.equal(
    (await gateway.post(`${responses.path}?api_key=${key}`, { body: responses.body() })).status,
    200,
  );
  const others = endpoints.filter(({ name }) => name !== 'responses');
  for (const { path, body } of others) {
    assert.equal(
      (await gateway.post(`${path}?api_key=${key}`, { body: body() })).status,
      401,
      path,
    );
  }
  for (const path of ['/v1/balance', '/v1/usage'])
    assert.equal((await gateway.get(`${path}?api_key=${key}`)).status, 401, path);
  const wrong = await gateway.post(`${responses.path}?api_key=tg_live_wrong`, {
    body: responses.body(),
  });
  assert.equal(wrong.error.code, 'invalid_api_key');
  // The last request: its log line comes after all others.
  await clock.advanceUntil(() => gateway.program.output.includes(wrong.requestId));
  assert.ok(!gateway.program.output.includes(key));
});

test('Authorization wins over a foreign x-api-key; two different keys of ours are refused', async () => {
  const [first, second] = [await gateway.makeKey(), await gateway.makeKey()];
  const ask = async (headers: Record<string, string>, query = '') =>
    (await gateway.post(responses.path + query, { headers, body: responses.body() })).status;
  const authorization = `Bearer ${first.key}`;
  assert.equal(await ask({ authorization, 'x-api-key': 'sk-ant-of-somebody-else' }), 200);
  assert.equal(await ask({ authorization, 'x-api-key': first.key }), 200);
  assert.equal(await ask({ authorization, 'x-api-key': second.key }), 401);
  assert.equal(await ask({ authorization }, `?api_key=${second.key}`), 401);
  assert.equal(await ask({ 'x-api-key': first.key }, `?api_key=${second.key}`), 401);
  assert.equal(
    await ask({ authorization: 'Bearer sk-of-somebody-else', 'x-api-key': first.key }),
    401,
    'Authorization wins',
  );
});

test('the models list needs no key, but a wrong key is refused', async () => {
  for (const path of ['/v1/models', '/v1/models/info']) {
    assert.equal((await gateway.get(path)).status, 200);
    assert.equal((await gateway.get(path, { key: 'tg_test_wrong' })).status, 401);
  }
});

test('commands create accounts and keys that work while the gateway runs', async () => {
  const { cli } = commandLine();
  const account = await cli<{ id: string; name: string }>(
    'accounts',
    'create',
    '--name',
    'Ada',
    '--credit-usd',
    '2.5',
  );
  assert.match(account.id, /^acc_[0-9a-z]{26}$/);
  assert.deepEqual(account, { id: account.id, name: 'Ada' });

  const limits = [
    '--name',
    'laptop',
    '--daily-cap-usd',
    '1.25',
    '--monthly-cap-usd',
    '10',
    '--models',
    'fast,openai/gpt-4o',
    '--rpm',
    '50',
  ];
  const made = await cli<{ id: string; key: string }>(
    'keys',
    'create',
    '--account',
    account.id,
    '--mode',
    'live',
    ...limits,
  );
  assert.deepEqual(Object.keys(made), ['id', 'key']);
  assert.match(made.id, /^key_/);
  assert.match(made.key, /^tg_live_[0-9A-Za-z]{38}$/);

  gateway.upstream.on(
    chat.upstreamPath,
    answerContent('chat', { text: 'yes', tokens: { input: 4, output: 1 } }),
  );
  const reply = await gateway.post(chat.path, { key: made.key, body: chat.body() });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers['x-ratelimit-limit-requests'], '50');
  assert.equal(reply.headers['x-service-balance-cents'], '249');

  const [listed, ...others] = await cli<Listed[]>('keys', 'list', '--account', account.id);
  assert.deepEqual(others, []);
  const { created_at: createdAt, ...fields } = listed!;
  assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(fields, {
    id: made.id,
    account_id: account.id,
    mode: 'live',
    name: 'laptop',
    hint: `tg_live_…${made.key.slice(-4)}`,
    daily_cap_micros: 1_250_000,
    monthly_cap_micros: 10_000_000,
    models: ['gpt-5-mini', 'gpt-4o'],
    scopes: null,
    requests_per_minute: 50,
    tokens_per_minute: null,
    concurrent_requests: null,
    allowed_addresses: null,
    expires_at: null,
    body_days: null,
    disabled_at: null,
    revoked_at: null,
    owner: null,
  });
  assert.ok(!JSON.stringify(listed).includes(made.key), 'a key is shown once');
});

test('accounts credit adds to the given ledger and shows the available balance', async () => {
  const { cli } = commandLine();
  const { account, key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const credited = await cli(
    'accounts',
    'credit',
    account,
    '--usd',
    '0.000001',
    '--note',
    'a gift',
  );
  assert.match(String(credited['id']), /^ent_/);
  const { id: _id, ...rest } = credited;
  assert.deepEqual(rest, {
    account_id: account,
    mode: 'live',
    credited_micros: 1,
    available_micros: 1_000_001,
  });
  const played = await cli('accounts', 'credit', account, '--usd', '1', '--test');
  assert.deepEqual([played['mode'], played['available_micros']], ['test', 1_001_000_000]);
  assert.equal((await gateway.get('/v1/balance', { key })).json()['balance_cents'], 100);
  const accounts = await cli<Record<string, unknown>[]>('accounts', 'list');
  assert.deepEqual(
    accounts
      .filter(({ id }) => id === account)
      .map((row) => [row['live_available_micros'], row['test_available_micros']]),
    [[1_000_001, 1_001_000_000]],
  );
});

test('accounts purge erases stored answers, --retain-responses off also stores no new ones, and nothing runs twice', async () => {
  const { cli } = commandLine();
  const { account, key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const ask = (name: string) =>
    gateway.post(chat.path, { key, headers: { 'idempotency-key': name }, body: chat.body() });
  assert.equal((await ask('one')).status, 200);
  assert.equal((await ask('one')).status, 200);
  const { cached_responses_erased: cached, ...purged } = await cli('accounts', 'purge', account);
  assert.deepEqual(purged, { id: account, replayed_responses_erased: 1, kept_bodies_erased: 0 });
  assert.ok(Number.isInteger(cached));
  // The gateway drops its memory when it notices the purge.
  const purgedReply = await onceNoticed(
    () => ask('one'),
    (reply) => reply.status !== 200,
  );
  assert.equal(purgedReply.error.code, 'idempotency_body_not_retained');
  assert.match(purgedReply.error.message, /has erased them/);

  const off = await cli('accounts', 'update', account, '--retain-responses', 'off');
  assert.deepEqual(off, {
    id: account,
    cached_responses_erased: 0,
    replayed_responses_erased: 0,
    kept_bodies_erased: 0,
  });
  assert.equal((await ask('two')).status, 200);
  assert.equal((await ask('two')).error.code, 'idempotency_body_not_retained');
  const isRetained = async () =>
    (await cli<Record<string, unknown>[]>('accounts', 'list')).find(({ id }) => id === account)![
      'retain_responses'
    ];
  assert.equal(await isRetained(), false);

  assert.deepEqual(await cli('accounts', 'update', account, '--retain-responses', 'on'), {
    id: account,
  });
  assert.equal(await isRetained(), true);
  const charges = gateway.database.read
    .selectFrom('charges')
    .select('id')
    .where('ledger_id', '=', `${account}:live`);
  assert.equal((await charges.execute()).length, 2);
});

test('a running gateway applies key changes within five seconds', async () => {
  const { cli } = commandLine();
  const { id, key } = await gateway.makeKey({
    dailyCapMicros: microsFromUsd(5),
    models: ['gpt-5-mini'],
  });
  const ask = () => gateway.post(chat.path, { key, body: chat.body() });
  assert.equal((await ask()).status, 200);

  await cli('keys', 'update', id, '--daily-cap-usd', '0');
  assert.equal(
    (await onceNoticed(ask, (reply) => reply.status !== 200)).error.code,
    'key_daily_limit_reached',
    '0 allows nothing',
  );

  const cleared = await cli<Listed>(
    'keys',
    'update',
    id,
    '--daily-cap-usd',
    'none',
    '--models',
    'gpt-4o',
  );
  assert.deepEqual([cleared['daily_cap_micros'], cleared['models']], [null, ['gpt-4o']]);
  assert.equal(
    (await onceNoticed(ask, (reply) => reply.status !== 429)).error.code,
    'model_not_allowed_for_key',
  );

  await cli('keys', 'update', id, '--models', 'none', '--rpm', '1', '--monthly-cap-usd', '3');
  const served = await onceNoticed(ask, (reply) => reply.status !== 403);
  assert.equal(served.headers['x-ratelimit-limit-requests'], '1');
  assert.equal((await ask()).error.code, 'rate_limit_exceeded');

  const untouched = await cli<Listed>('keys', 'update', id, '--name', 'renamed');
  assert.deepEqual(
    [untouched['name'], untouched['requests_per_minute'], untouched['monthly_cap_micros']],
    ['renamed', 1, 3_000_000],
    'what is not named stays',
  );
});

test('a running gateway refuses a revoked key within five seconds, for good', async () => {
  const { cli } = commandLine();
  const { id, key, account } = await gateway.makeKey();
  const other = await gateway.makeKey({ account });
  const ask = () => gateway.get('/v1/balance', { key });
  assert.equal((await ask()).status, 200);
  const revoked = await cli<Listed>('keys', 'revoke', id);
  assert.match(String(revoked['revoked_at']), /^\d{4}-/);
  assert.equal((await onceNoticed(ask, (reply) => reply.status !== 200)).status, 401);
  assert.equal(
    (await gateway.get('/v1/balance', { key: other.key })).status,
    200,
    'other keys of the account go on working',
  );
  assert.equal(
    (await cli<Listed>('keys', 'revoke', id))['revoked_at'],
    revoked['revoked_at'],
    'a second time changes nothing',
  );
});

test('a running gateway refuses a disabled key within five seconds, with the reason, until it is enabled', async () => {
  const { cli } = commandLine();
  const { id, key } = await gateway.makeKey();
  const ask = () => gateway.get('/v1/balance', { key });
  assert.equal((await ask()).status, 200);
  const disabled = await cli<Listed>('keys', 'disable', id);
  assert.match(String(disabled['disabled_at']), /^\d{4}-/);
  const refused = await onceNoticed(ask, (reply) => reply.status !== 200);
  assert.deepEqual([refused.status, refused.error.code], [401, 'invalid_api_key']);
  assert.match(refused.error.message, /disabled/);
  assert.equal(
    (await cli<Listed>('keys', 'disable', id))['disabled_at'],
    disabled['disabled_at'],
    'a second time changes nothing',
  );
  assert.equal((await cli<Listed>('keys', 'enable', id))['disabled_at'], null);
  await onceNoticed(ask, (reply) => reply.status === 200);
});

test('changes by commands are in the audit log once, with the previous values and without the key text', async () => {
  const { cli, fail } = commandLine();
  const { id: account } = await cli<Listed>(
    'accounts',
    'create',
    '--name',
    'Audited',
    '--credit-usd',
    '2',
  );
  const made = await cli<Listed>(
    'keys',
    'create',
    '--account',
    String(account),
    '--mode',
    'live',
    '--name',
    'a',
  );
  const keyId = String(made['id']);
  await cli('keys', 'update', keyId, '--daily-cap-usd', '5');
  await cli('keys', 'update', keyId, '--daily-cap-usd', '5');
  await cli('keys', 'disable', keyId);
  await cli('keys', 'enable', keyId);
  await cli('keys', 'revoke', keyId);
  await cli('keys', 'revoke', keyId);
  assert.match((await fail('keys', 'enable', keyId)).stderr, /is revoked for good/);
  await cli(
    'accounts',
    'update',
    String(account),
    '--frozen',
    'yes',
    '--model',
    'gpt-5-mini',
    '--price-multiplier',
    '0.5',
  );
  await cli('accounts', 'debit', String(account), '--usd', '0.5', '--note', 'a fee');
  const page = await listChanges(gateway.database, {
    accountId: String(account),
    limit: 50,
    cursor: null,
  });
  const entries = page!.entries.toReversed();
  assert.deepEqual(
    entries.map(({ action, subject }) => [action, subject]),
    [
      ['account.create', account],
      ['account.credit', account],
      ['key.create', keyId],
      ['key.update', keyId],
      ['key.disable', keyId],
      ['key.enable', keyId],
      ['key.revoke', keyId],
      ['account.update', account],
      ['account.debit', account],
    ],
  );
  const [, credit, , update, , , , frozen] = entries;
  assert.deepEqual(
    [update!.before, update!.after],
    [{ daily_cap_micros: null }, { daily_cap_micros: 5_000_000 }],
  );
  assert.deepEqual(update!.actor, {
    kind: 'command',
    id: 'keys update',
    name: 'tollgate keys update',
    address: null,
  });
  assert.deepEqual(frozen!.before, { frozen: false, model_multipliers_ppm: {} });
  assert.deepEqual(frozen!.after, {
    frozen: true,
    model_multipliers_ppm: { 'gpt-5-mini': 500_000 },
  });
  const { entry_id: _id, ...credited } = credit!.after as Record<string, unknown>;
  assert.deepEqual(credited, {
    mode: 'live',
    amount_micros: 2_000_000,
    note: 'first credit',
  });
  assert.ok(!JSON.stringify(entries).includes(String(made['key'])));
});

test('a restricted key lists its own models by id and alias, and is checked by the resolved id', async () => {
  const { key } = await gateway.makeKey({ models: ['gpt-5-mini', 'claude-haiku-4-5'] });
  const ids = async (path: string) =>
    (await gateway.get(path, { key })).json<{ data: { id: string }[] }>().data.map(({ id }) => id);
  const expected = ['claude-haiku-4-5', 'gpt-5-mini', 'fast'];
  assert.deepEqual(await ids('/v1/models'), expected);
  assert.deepEqual(await ids('/v1/models/info'), expected);
  assert.equal((await gateway.get('/v1/models/gpt-4o', { key })).status, 404);
  assert.equal((await gateway.get('/v1/models/gpt-5-mini', { key })).status, 200);
  for (const model of ['fast', 'openai/gpt-5-mini', 'gpt-5-mini-2025-08-07']) {
    const reply = await gateway.post(chat.path, { key, body: chat.body({ model }) });
    assert.equal(reply.status, 200, model);
    assert.equal(reply.json()['model'], 'gpt-5-mini');
  }
  assert.equal(
    (await gateway.post(chat.path, { key, body: chat.body({ model: 'gpt-4o' }) })).status,
    403,
  );
});

test('a live key lists the models with a live route, a test key all models', async () => {
  const live = await gateway.makeKey({ mode: 'live' });
  const sandbox = await gateway.makeKey();
  const ids = async (key: string) =>
    new Set(
      (await gateway.get('/v1/models', { key }))
        .json<{ data: { id: string }[] }>()
        .data.map(({ id }) => id),
    );
  const [lives, all] = [await ids(live.key), await ids(sandbox.key)];
  assert.ok(lives.has('gpt-5-mini') && !lives.has('deepseek-chat') && !lives.has('grok-4.5'));
  assert.ok(all.isSupersetOf(lives) && all.has('grok-4.5') && all.size > 90);
  const ask = (key: string) =>
    gateway.post(chat.path, { key, body: chat.body({ model: 'grok-4.5' }) });
  assert.equal((await ask(live.key)).error.code, 'model_not_found');
  assert.equal((await ask(sandbox.key)).status, 200);
});

test('wrong command lines are refused with exit code 1 and change nothing', async () => {
  const { fail } = commandLine();
  const { account, id } = await gateway.makeKey();
  const mistakes: readonly (readonly [readonly string[], RegExp])[] = [
    [
      [
        'keys',
        'create',
        '--account',
        account,
        '--mode',
        'live',
        '--models',
        'gpt-5-mini,no-such-model',
      ],
      /no-such-model/,
    ],
    [['keys', 'create', '--account', 'acc_nobody', '--mode', 'live'], /There is no such account/],
    [['keys', 'update', id, '--daily-cap-usd', '-1'], /0 or more/],
    [['accounts', 'purge', 'acc_nobody'], /There is no such account/],
  ];
  const outcomes = await Promise.all(
    mistakes.map(async ([args, expected]) => ({ args, expected, failure: await fail(...args) })),
  );
  for (const { args, expected, failure } of outcomes) {
    assert.equal(failure.code, 1, args.join(' '));
    assert.match(failure.stderr, expected);
    assert.doesNotMatch(failure.stderr, /\n\s+at /, 'no stack');
    const printed = JSON.parse(failure.stdout) as { error: { message: string } };
    assert.match(printed.error.message, expected);
    assert.doesNotMatch(printed.error.message, /^(?:error|tollgate):/);
  }
  const keys = await gateway.database.read
    .selectFrom('api_keys')
    .select('id')
    .where('account_id', '=', account)
    .execute();
  assert.equal(keys.length, 1);
});

type Listed = Record<string, unknown>;

function commandLine() {
  const { program } = gateway;
  return {
    cli: program.cli.bind(program),
    fail: async (...args: readonly string[]) => {
      const env = {
        ...process.env,
        TOLLGATE_DATA_DIR: program.dataDir,
        TOLLGATE_CONFIG: join(program.dataDir, 'tollgate.yaml'),
      };
      try {
        const { stdout } = await promisify(execFile)(
          process.execPath,
          ['dist/current/main.js', ...args, '--json'],
          {
            cwd: root,
            env,
          },
        );
        throw new assert.AssertionError({ message: `it succeeded: ${stdout}` });
      } catch (error) {
        return error as { code: number; stdout: string; stderr: string };
      }
    },
  };
}

function onceNoticed(
  ask: () => Promise<Reply>,
  isExpected: (reply: Reply) => boolean,
): Promise<Reply> {
  return untilNoticed(clock, async () => {
    const reply = await ask();
    return isExpected(reply) && reply;
  });
}
