// `tollgate import new-api`: keys of new-api and one-api work here at once and are charged to the
// balance that came with them; a second run changes nothing.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from '../support/both-stores.ts';
import {
  makeForeign,
  newApiKeys,
  newApiSample,
  otherStore,
  runOn,
} from '../support/foreign-samples.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import {
  answerHi,
  ask as askAs,
  countRows,
  restartWith,
  resultsOf,
  type Report,
} from '../support/imports.ts';
import type { RunningApp } from '../support/running-app.ts';
import { rowsOf } from '../support/rows.ts';
import { currentStore } from '../support/test-store.ts';

let gateway: TestGateway<RunningApp>;
let source: string;

before(async () => {
  gateway = await startGateway();
  source = await makeForeign(otherStore(), newApiSample(gateway.upstream.url));
});
after(() => gateway.stop());

const lineOf = ({ lines }: Report, kind: string, name: string) => {
  const found = lines.filter((line) => line.kind === kind && line.name === name);
  assert.equal(found.length, 1, `${kind} ${name}`);
  return found[0]!;
};
const run = (...options: string[]) =>
  gateway.program.cli<Report>('import', 'new-api', '--database', source, ...options);
const ask = (key: string, model = 'house') => askAs(gateway, key, model);
const counts = () => countRows(gateway);

test('without --apply it says what would come, and changes nothing', async () => {
  const earlier = await counts();
  const report = await run();
  assert.equal(report.applied, false);
  assert.deepEqual(await counts(), earlier);
  assert.deepEqual(resultsOf(report), {
    'account Ada': 'comes',
    'account bob': 'disabled',
    'account Eve': 'stays',
    'key ada': 'comes',
    'key limited': 'comes',
    'key of bob': 'disabled',
    'key short': 'stays',
    'key old': 'stays',
    'key of eve': 'stays',
    'user Ada': 'comes',
    'user bob': 'stays',
    'provider main-host': 'comes',
    'provider main-host-2': 'comes',
    'provider main-host-3': 'comes',
    'provider Cloud': 'stays',
    'provider Fork': 'stays',
    'provider Off': 'stays',
    'model house': 'comes',
    'model secret': 'comes',
    'other 1 open redemption codes': 'stays',
    'other 1 active subscriptions': 'stays',
    'other history of requests and payments': 'stays',
  });
  assert.match(lineOf(report, 'key', 'limited').notes.join(), /\$0\.50 are left.*nowhere/);
  assert.match(lineOf(report, 'model', 'secret').notes.join(), /completion ratio/);
  assert.match(lineOf(report, 'other', '1 active subscriptions').notes.join(), /\$0\.80/);
});

test('an SDK with the old key is served and charged; a second run changes nothing', async () => {
  const file = join(gateway.program.dataDir, 'moved.yaml');
  const report = await run('--apply', '--write-config', file);
  const ada = lineOf(report, 'account', 'Ada');
  assert.equal(ada.result, 'came');
  // 1,000,001 quota are $2.000002.
  assert.equal((await gateway.balance(ada.id!)).availableMicros, 2_000_002);
  assert.equal((await gateway.balance(lineOf(report, 'account', 'bob').id!)).availableMicros, -6);
  const [limited] = await rowsOf(gateway.database, 'api_keys', {
    id: lineOf(report, 'key', 'limited').id!,
  });
  assert.deepEqual(
    [limited!.models, limited!.allowed_addresses, limited!.monthly_cap_micros, limited!.hint],
    ['["house","nowhere"]', '["127.0.0.0/8"]', null, 'sk-…mLim'],
  );

  assert.deepEqual(await restartWith(gateway, file), {
    providers: {
      'main-host': { kind: 'openai', base_url: `${gateway.upstream.url}/v1`, api_key: 'sk-one' },
      'main-host-2': {
        kind: 'openai-compatible',
        base_url: `${gateway.upstream.url}/local/v1`,
        api_key: 'sk-two',
      },
      'main-host-3': { credential_of: 'main-host-2', api_key: 'sk-three' },
    },
    models: {
      house: {
        routes: [
          { provider: 'main-host', model: 'gpt-house', rank: 0, weight: 1 },
          { provider: 'main-host-2', model: 'house', rank: 1, weight: 3 },
        ],
        prices: {
          input: 1.25,
          output: 10,
          cache_read: 0.125,
          cache_write: 1.5625,
          cache_write_1h: 2.5,
        },
      },
      secret: { routes: [{ provider: 'main-host', model: 'secret', rank: 0, weight: 1 }] },
    },
  });
  answerHi(gateway);
  // The group pays 1.5 times 1,000 × $1.25 + 100 × $10 for a million tokens.
  for (const [key, balance] of [
    [`sk-${newApiKeys.ada}`, 2_000_002 - 3_375],
    [`sk-${newApiKeys.limited}-17`, 2_000_002 - 2 * 3_375],
    [newApiKeys.ada, 2_000_002 - 3 * 3_375],
  ] as const) {
    assert.equal(await ask(key), 'Hi');
    assert.equal((await gateway.balance(ada.id!)).availableMicros, balance);
  }
  await assert.rejects(ask(`sk-${newApiKeys.bob}`), /disabled/);
  await assert.rejects(ask(`sk-${newApiKeys.limited}`, 'secret'), { status: 403 });
  await assert.rejects(ask(`sk-${newApiKeys.ada.replace('A', 'B')}`), { status: 401 });
  await assert.rejects(ask('sk-OldOldOldOldOldOldOldOld'), { status: 401 });

  const earlier = await counts();
  const again = await run('--apply', '--write-config', file);
  assert.deepEqual(
    again.lines.filter(({ result }) => result === 'came').map(({ name }) => name),
    [],
  );
  assert.equal(lineOf(again, 'account', 'Ada').result, 'here');
  assert.deepEqual(await counts(), earlier);
});

test('a balance that has changed there, and another user under an id, are told and change nothing', async () => {
  const earlier = await counts();
  for (const quota of [5, -500_000]) {
    await runOn(source, `update users set quota = ${quota} where id = 1`);
    const later = lineOf(await run('--apply'), 'account', 'Ada');
    assert.equal(later.result, 'here');
    assert.match(later.notes.join(), /has changed since/);
    assert.deepEqual(await counts(), earlier);
  }
  await runOn(
    source,
    `update users set display_name = 'Zoe' where id = 1`,
    `update tokens set "key" = 'ZoeZoeZoeZoeZoeZoeZoe' where id = 1`,
  );
  const links = join(gateway.program.dataDir, 'no-links');
  const other = await run('--apply', '--invite', links);
  assert.equal(lineOf(other, 'account', 'Zoe').result, 'refused');
  // Nobody is invited to an account of somebody else.
  assert.deepEqual(await rowsOf(gateway.database, 'invitations'), []);
  assert.equal(lineOf(other, 'key', 'ada').result, 'refused');
  assert.deepEqual(await counts(), earlier);
  const second = await run('--apply', '--source', 'second', '--strict');
  assert.equal(lineOf(second, 'account', 'Zoe').result, 'came');
  // Its text came with the first installation.
  assert.equal(lineOf(second, 'key', 'limited').result, 'refused');
});

test('users are invited on request, once', async () => {
  const file = join(gateway.program.dataDir, 'links');
  rmSync(file, { force: true });
  await run('--apply', '--source', 'second', '--invite', file);
  const [link, ...others] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);
  assert.deepEqual([link!['email'], link!['role'], others.length], ['ada@example.com', 'owner', 0]);
  const token = new URL(link!['link']!).searchParams.get('token')!;
  const rows = await rowsOf(gateway.database, 'invitations');
  assert.equal(rows.length, 1);
  assert.ok(token.length > 20);
  const again = await run('--apply', '--source', 'second', '--invite', file);
  assert.match(lineOf(again, 'user', 'Zoe').notes.join(), /invited before/);
  assert.equal((await rowsOf(gateway.database, 'invitations')).length, 1);
});

test('a wrong source is refused with the remedy', async () => {
  const refuse = async (url: string, message: RegExp) =>
    assert.rejects(gateway.program.cli('import', 'new-api', '--database', url), message);
  await refuse('mysql://root@127.0.0.1/oneapi', /pgloader/);
  await refuse('root:x@tcp(127.0.0.1:3306)/oneapi', /pgloader/);
  await refuse('/no/such/file', /cannot be read/);
  // Not with a stack, which would show the password.
  await refuse('postgres://me:secret@127.0.0.1:port/oneapi', /is no address/);
  await refuse(
    await makeForeign(currentStore(), 'create table users (id integer)'),
    /no database of new-api/,
  );
});
