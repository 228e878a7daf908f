// API keys: how clients send them, their limits, and the commands that change them while the
// gateway runs.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { listChanges } from '../../src/domain/audit/audit-log.ts';
import { microsFromUsd } from '../../src/lib/money.ts';
import { answerContent } from '../support/answers.ts';
import { builtProgram, root } from '../support/built-program.ts';
import { endpoint, endpoints } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { rowsOf } from '../support/rows.ts';
import { ok, type Reply } from '../support/http.ts';
import { TestClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';

const chat = endpoint('chat');
const responses = endpoint('responses');

const clock = new TestClock();

const gateway = await startGateway({ aliases: { fast: 'gpt-6-luna' } }, { clock });
after(() => gateway.stop());

test('a key is taken from Authorization and from x-api-key on every endpoint', async () => {
  const { key } = await gateway.makeKey();
  const reading = [
    '/v1/balance',
    '/v1/usage',
    '/v1/models',
    '/v1/models/info',
    '/v1/models/gpt-6-luna',
  ];
  const ways: Record<string, string>[] = [
    { authorization: `Bearer ${key}` },
    { authorization: `bearer ${key}` },
    { 'x-api-key': key },
  ];
  for (const headers of ways) {
    for (const { path, body } of endpoints) {
      await ok(gateway.post(path, { headers, body: body() }));
    }
    for (const path of reading) await ok(gateway.get(path, { headers }));
  }
});

test('?api_key= works on /v1/responses and nowhere else, and is not logged', async () => {
  const { key } = await gateway.makeKey();
  await ok(gateway.post(`${responses.path}?api_key=${key}`, { body: responses.body() }));
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
    await ok(gateway.get(path));
    assert.equal((await gateway.get(path, { key: 'tg_test_wrong' })).status, 401);
  }
});

test('commands create accounts and keys that work while the gateway runs', async () => {
  const account = await cli<Named>('accounts create --name Ada --credit-usd 2.5');
  assert.match(account.id, /^acc_[0-9a-z]{26}$/);
  assert.deepEqual(account, { id: account.id, name: 'Ada' });

  const made = await cli<{ id: string; key: string }>(
    `keys create --account ${account.id} --mode live --name laptop --daily-cap-usd 1.25 --monthly-cap-usd 10 --models fast,openai/gpt-4o --rpm 50`,
  );
  assert.deepEqual(Object.keys(made), ['id', 'key']);
  assert.match(made.id, /^key_/);
  assert.match(made.key, /^tg_live_[0-9A-Za-z]{38}$/);

  gateway.upstream.on(
    chat.upstreamPath,
    answerContent('chat', { text: 'yes', tokens: { input: 4, output: 1 } }),
  );
  const reply = await ok(gateway.post(chat.path, { key: made.key, body: chat.body() }));
  assert.equal(reply.headers['x-ratelimit-limit-requests'], '50');
  assert.equal(reply.headers['x-service-balance-cents'], '249');

  const [listed, ...others] = await cli<Listed[]>(`keys list --account ${account.id}`);
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
    models: ['gpt-6-luna', 'gpt-4o'],
    scopes: null,
    requests_per_minute: 50,
    tokens_per_minute: null,
    concurrent_requests: null,
    allowed_addresses: null,
    expires_at: null,
    body_days: null,
    cache_marks: true,
    disabled_at: null,
    revoked_at: null,
    owner: null,
  });
  assert.ok(!JSON.stringify(listed).includes(made.key), 'a key is shown once');
});

test('accounts credit adds to the given ledger and shows the available balance', async () => {
  const { account } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const credited = await cli(`accounts credit ${account} --usd 0.000001 --note gift`);
  assert.match(String(credited['id']), /^ent_/);
  const { id: _id, ...rest } = credited;
  assert.deepEqual(rest, {
    account_id: account,
    mode: 'live',
    credited_micros: 1,
    available_micros: 1_000_001,
  });
  const played = await cli(`accounts credit ${account} --usd 1 --test`);
  assert.deepEqual([played['mode'], played['available_micros']], ['test', 1_001_000_000]);
});

test('accounts purge erases stored answers, --retain-responses off also stores no new ones, and nothing runs twice', async () => {
  const { account, key } = await gateway.makeKey({ mode: 'live', creditUsd: 1 });
  const ask = (name: string) =>
    gateway.post(chat.path, { key, headers: { 'idempotency-key': name }, body: chat.body() });
  await ok(ask('one'));
  await ok(ask('one'));
  const { cached_responses_erased: cached, ...purged } = await cli(`accounts purge ${account}`);
  assert.deepEqual(purged, { id: account, replayed_responses_erased: 1, kept_bodies_erased: 0 });
  assert.ok(Number.isInteger(cached));
  // The gateway drops its memory when it notices the purge.
  const purgedReply = await onceNoticed(
    () => ask('one'),
    (reply) => reply.status !== 200,
  );
  assert.equal(purgedReply.error.code, 'idempotency_body_not_retained');
  assert.match(purgedReply.error.message, /has erased them/);

  const off = await cli(`accounts update ${account} --retain-responses off`);
  assert.deepEqual(off, {
    id: account,
    cached_responses_erased: 0,
    replayed_responses_erased: 0,
    kept_bodies_erased: 0,
  });
  await ok(ask('two'));
  assert.equal((await ask('two')).error.code, 'idempotency_body_not_retained');
  const isRetained = async () =>
    (await cli<Listed[]>('accounts list')).find(({ id }) => id === account)!['retain_responses'];
  assert.equal(await isRetained(), false);

  assert.deepEqual(await cli(`accounts update ${account} --retain-responses on`), {
    id: account,
  });
  assert.equal(await isRetained(), true);
  const charges = gateway.database.read
    .selectFrom('charges')
    .select('id')
    .where('ledger_id', '=', `${account}:live`);
  assert.equal((await charges.execute()).length, 2);
});

// `dashboard-keys` shows the effect of each field.
test('a running gateway applies what commands change within five seconds', async () => {
  const { id, key } = await gateway.makeKey({ dailyCapMicros: microsFromUsd(5) });
  const ask = () => gateway.post(chat.path, { key, body: chat.body() });
  await ok(ask());
  await cli(`keys update ${id} --daily-cap-usd 0`);
  const capped = await onceNoticed(ask, (reply) => reply.status !== 200);
  assert.equal(capped.error.code, 'key_daily_limit_reached', '0 allows nothing');

  await cli(`keys update ${id} --models none --rpm 1 --monthly-cap-usd 3`);
  const cleared = await cli(`keys update ${id} --daily-cap-usd none --name renamed`);
  assert.partialDeepStrictEqual(cleared, {
    name: 'renamed',
    daily_cap_micros: null,
    requests_per_minute: 1,
    monthly_cap_micros: 3_000_000,
  });
  const served = await onceNoticed(ask, (reply) => reply.status === 200);
  assert.equal(served.headers['x-ratelimit-limit-requests'], '1');
  assert.equal((await ask()).error.code, 'rate_limit_exceeded');

  const disabled = await cli(`keys disable ${id}`);
  assert.match(String(disabled['disabled_at']), /^\d{4}-/);
  assert.equal((await cli(`keys enable ${id}`))['disabled_at'], null);
  const revoked = await cli(`keys revoke ${id}`);
  const again = await cli(`keys revoke ${id}`);
  assert.equal(again['revoked_at'], revoked['revoked_at'], 'a second time changes nothing');
  await assert.rejects(cli(`keys enable ${id}`), /is revoked for good/);
});

test('changes by commands are in the audit log once, with the previous values and without the key text', async () => {
  const { id: account } = await cli<Named>('accounts create --name Audited --credit-usd 2');
  const made = await cli<Named & { key: string }>(
    `keys create --account ${account} --mode live --name a`,
  );
  for (const command of [
    `keys update ${made.id} --daily-cap-usd 5`,
    `keys update ${made.id} --daily-cap-usd 5`,
    `accounts update ${account} --frozen yes --model gpt-6-luna --price-multiplier 0.5`,
    `accounts debit ${account} --usd 0.5 --note fee`,
  ])
    await cli(command);
  const page = await listChanges(gateway.database.read, {
    accountId: account,
    limit: 50,
    cursor: null,
  });
  const entries = page!.entries.toReversed();
  assert.deepEqual(
    entries.map(({ action, subject }) => [action, subject]),
    [
      ['account.create', account],
      ['account.credit', account],
      ['key.create', made.id],
      ['key.update', made.id],
      ['account.update', account],
      ['account.debit', account],
    ],
  );
  const [, credit, , update, frozen] = entries;
  assert.partialDeepStrictEqual(update, {
    before: { daily_cap_micros: null },
    after: { daily_cap_micros: 5_000_000 },
    actor: { kind: 'command', id: 'keys update', name: 'tollgate keys update', address: null },
  });
  assert.deepEqual(frozen!.before, { frozen: false, model_multipliers_ppm: {} });
  assert.deepEqual(frozen!.after, {
    frozen: true,
    model_multipliers_ppm: { 'gpt-6-luna': 500_000 },
  });
  const { entry_id: _id, ...credited } = credit!.after as Record<string, unknown>;
  assert.deepEqual(credited, { mode: 'live', amount_micros: 2_000_000, note: 'first credit' });
  assert.ok(!JSON.stringify(entries).includes(made.key));
});

test('a restricted key lists its own models by id and alias, and is checked by the resolved id', async () => {
  const { key } = await gateway.makeKey({ models: ['gpt-6-luna', 'claude-haiku-4-5'] });
  const ids = async (path: string) =>
    (await gateway.get(path, { key })).json<{ data: { id: string }[] }>().data.map(({ id }) => id);
  const expected = ['claude-haiku-4-5', 'gpt-6-luna', 'fast'];
  assert.deepEqual(await ids('/v1/models'), expected);
  assert.deepEqual(await ids('/v1/models/info'), expected);
  assert.equal((await gateway.get('/v1/models/gpt-4o', { key })).status, 404);
  await ok(gateway.get('/v1/models/gpt-6-luna', { key }));
  for (const model of ['fast', 'openai/gpt-6-luna', 'gpt-6-luna-2026-09-22']) {
    const reply = await gateway.post(chat.path, { key, body: chat.body({ model }) });
    assert.equal(reply.status, 200, model);
    assert.equal(reply.json()['model'], 'gpt-6-luna');
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
  assert.ok(lives.has('gpt-6-luna') && !lives.has('deepseek-chat') && !lives.has('grok-4.5'));
  assert.ok(all.isSupersetOf(lives) && all.has('grok-4.5') && all.size > 90);
  const ask = (key: string) =>
    gateway.post(chat.path, { key, body: chat.body({ model: 'grok-4.5' }) });
  assert.equal((await ask(live.key)).error.code, 'model_not_found');
  await ok(ask(sandbox.key));
});

test('wrong command lines are refused with exit code 1 and change nothing', async () => {
  const { account, id } = await gateway.makeKey();
  const mistakes: readonly (readonly [string, RegExp])[] = [
    [
      `keys create --account ${account} --mode live --models gpt-6-luna,no-such-model`,
      /no-such-model/,
    ],
    ['keys create --account acc_nobody --mode live', /There is no such account/],
    [`keys update ${id} --daily-cap-usd -1`, /0 or more/],
    [`keys update ${id}`, /say what to change/],
    [`accounts update ${account}`, /say what to change/],
    ['keys update key_nobody --rpm 1', /There is no such key\. Look it up in the list/],
    ['accounts purge acc_nobody', /There is no such account/],
  ];
  for (const [command, expected] of mistakes) {
    const { code, stdout, stderr } = await failed(command);
    assert.equal(code, 1, command);
    assert.match(stderr, expected);
    assert.doesNotMatch(stderr, /\n\s+at /, 'no stack');
    const { error } = JSON.parse(stdout) as { error: { message: string } };
    assert.match(error.message, expected);
    assert.doesNotMatch(error.message, /^(?:error|tollgate):/);
  }
  const keys = await rowsOf(gateway.database, 'api_keys', { account_id: account });
  assert.equal(keys.length, 1);
});

type Listed = Record<string, unknown>;
type Named = { readonly id: string; readonly name: string };

/** Runs a command whose words have no spaces. */
const cli = <Result = Listed>(command: string) =>
  gateway.program.cli<Result>(...command.split(' '));

/** Runs the built program, which must fail. */
async function failed(command: string) {
  const options = { cwd: root, env: gateway.program.env };
  const args = [builtProgram(), ...command.split(' '), '--json'];
  try {
    await promisify(execFile)(process.execPath, args, options);
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
  throw new assert.AssertionError({ message: `it succeeded: ${command}` });
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
