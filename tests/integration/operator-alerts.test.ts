// What operators are told of, from the real causes: refused credentials, broken routes, losses, old
// backups, models that end, and books that cannot be written.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sqlitePathOf } from '../../src/db/database.ts';
import { connectSqlite } from '../../src/db/sqlite/connection.ts';
import { answerContent } from '../support/answers.ts';
import { signIn } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { startGateway } from '../support/gateway.ts';
import { jsonOf, ok } from '../support/http.ts';
import { startMailbox } from '../support/mailbox.ts';
import { rowsOf, setRows } from '../support/rows.ts';
import { SleeplessClock } from '../support/test-clock.ts';
import { untilNoticed } from '../support/until.ts';
import { answerStatus } from '../support/upstream.ts';
import { isSigned, startWebhookReceiver } from '../support/webhook-receiver.ts';

const dayMs = 86_400_000;
const own = '/operator/accounts/operators';
const chat = endpoint('chat');
const messages = endpoint('messages');

const clock = new SleeplessClock(Date.now());
const receiver = await startWebhookReceiver();
const mailbox = await startMailbox();
const ends = new Date(clock.nowMs() + 20 * dayMs).toISOString().slice(0, 10);
const gateway = await startGateway(
  {
    smtp: { url: mailbox.url, from: 'Service <noreply@service.example>' },
    limits: { loss_budget_usd: 1 },
    models: { 'gpt-6-luna': { retires_at: ends } },
  },
  { clock },
);
let operator = await signIn(gateway, { role: null, operator: true });
// On loopback, without a setting: operators may.
const hook = { kind: 'webhook', address: receiver.url };
const { secret } = await jsonOf<{ secret: string }>(operator.post(`${own}/alert-endpoints`, hook));
after(async () => {
  await gateway.stop();
  await receiver.close();
  await mailbox.close();
});

/** Moves on until the operators' webhook has an event. */
async function told(type: string, turnMs = 5_000) {
  const message = await untilNoticed(clock, () => receiver.of(type).at(0), turnMs);
  assert.ok(isSigned(message, secret));
  return message.body.data;
}

/** The looks of a start, which come every hour else, and those of every ten minutes. */
async function lookAgain(): Promise<void> {
  await clock.hurry(gateway.program.terminate());
  await gateway.program.start();
  operator = await signIn(gateway, { role: null, operator: true });
  await clock.advance(11 * 60_000);
}

test('a refused credential is told of once for its provider', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.upstream.on(messages.upstreamPath, answerStatus(401));
  for (const model of ['claude-haiku-4-5', 'claude-opus-4-8'])
    await gateway.post(messages.path, { key, body: messages.body({ model }) });
  assert.partialDeepStrictEqual(await told('credential.refused'), { provider: 'anthropic' });
  await clock.advance(60_000);
  assert.equal(receiver.of('credential.refused').length, 1);
});

test('a route out of use is told of once while it stays so', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  gateway.upstream.on(chat.upstreamPath, answerStatus(500));
  const ask = () => gateway.post(chat.path, { key, body: chat.body({ model: 'gpt-6-luna' }) });
  for (let call = 0; call < 6; call++) await ask();
  assert.partialDeepStrictEqual(await told('route.out_of_use'), {
    provider: 'openai',
    model: 'gpt-6-luna',
  });
  for (let call = 0; call < 3; call++) {
    await clock.advance(20_000);
    await ask();
  }
  assert.equal(receiver.of('route.out_of_use').length, 1);
  gateway.upstream.on(
    chat.upstreamPath,
    answerContent('chat', { text: 'yes', tokens: { input: 1, output: 1 } }),
  );
});

test('losses above the budget, an old backup and a model that ends are told of once', async () => {
  const key = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await gateway.provokeLoss(key, 3);
  const [first] = await rowsOf(gateway.database, 'accounts');
  await setRows(
    gateway.database,
    'accounts',
    { id: first!.id },
    { created_at_ms: clock.nowMs() - 9 * dayMs },
  );
  await lookAgain();
  assert.partialDeepStrictEqual(await told('losses.exceeded'), {
    account_id: key.account,
    lost_micros: 3_000_000,
    budget_micros: 1_000_000,
  });
  assert.deepEqual(await told('backup.overdue'), { last_backup_at: null, days: 9 });
  await told('model.ends');
  const ending = receiver
    .of('model.ends')
    .map(({ body }) => (body.data as { model: string }).model);
  assert.ok(ending.includes('gpt-6-luna') && new Set(ending).size === ending.length);
  await lookAgain();
  for (const type of ['losses.exceeded', 'backup.overdue'])
    assert.equal(receiver.of(type).length, 1, type);
  assert.equal(receiver.of('model.ends').length, ending.length);
});

test('operators get mail and Slack messages too, in which names of accounts make no links', async () => {
  const slack = await startWebhookReceiver();
  const add = (body: object) => ok(operator.post(`${own}/alert-endpoints`, body));
  await add({ kind: 'email', address: 'ops@example.com', types: ['losses.exceeded'] });
  await add({ kind: 'slack', address: slack.url, types: ['losses.exceeded'] });
  const key = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  const name = 'Ann <https://evil.example|here> & co';
  await setRows(gateway.database, 'accounts', { id: key.account }, { name });
  await gateway.provokeLoss(key, 2);
  await clock.advance(11 * 60_000);
  const mail = await untilNoticed(clock, () =>
    mailbox.mails.find(({ to }) => to === 'ops@example.com'),
  );
  assert.match(mail.text, /\$2\.00/);
  assert.match(mail.text, new RegExp(`${gateway.url}/operator`));
  assert.match(mail.text, /^Message-ID:\s*<evt_\w+\.end_\w+@tollgate>/im);
  const { text } = await untilNoticed(clock, () => slack.messages()[0]);
  const said = (JSON.parse(text) as { text: string }).text;
  for (const written of [mail.text, said])
    assert.doesNotMatch(written, /https:\/\/evil|evil\.example/);
  assert.match(said, /Ann &lt;https: \/\/evil\. example\|here&gt; &amp; co/);
  await slack.close();
});

test('wrong endpoints are refused with the field and what to do', async () => {
  const owner = await signIn(gateway);
  const post = (body: object) => owner.post(`/accounts/${owner.account}/alert-endpoints`, body);
  const table: readonly (readonly [object, string])[] = [
    [{ kind: 'webhook', address: receiver.url }, 'address'],
    [{ kind: 'webhook', address: 'http://example.com/' }, 'address'],
    [{ kind: 'webhook', address: 'https://10.0.0.1/' }, 'address'],
    [{ kind: 'webhook', address: 'https://example.com:22/' }, 'address'],
    [{ kind: 'webhook', address: 'https://a:b@example.com/' }, 'address'],
    [{ kind: 'webhook', address: 'file:///etc/passwd' }, 'address'],
    [{ kind: 'slack', address: 'https://[::1]/' }, 'address'],
    [{ kind: 'webhook', address: 'x'.repeat(2_001) }, 'address'],
    [{ kind: 'email', address: 'victim@example.com' }, 'address'],
    [{ kind: 'pigeon', address: 'owners' }, 'kind'],
    [{ kind: 'email', address: 'owners', types: ['backup.overdue'] }, 'types'],
    [{ kind: 'email', address: 'owners', types: [] }, 'types'],
    [{ kind: 'email', address: 'owners', types: ['nothing'] }, 'types[0]'],
  ];
  for (const [body, param] of table) {
    const reply = await post(body);
    assert.deepEqual([reply.status, reply.error.param], [400, param], reply.text);
  }
  for (let made = 0; made < 10; made++) await ok(post({ kind: 'email', address: owner.email }));
  assert.equal((await post({ kind: 'email', address: 'owners' })).status, 409);
  assert.equal((await owner.get(`/accounts/operators/alert-endpoints`)).status, 404);
});

test('books that cannot be written are told of meanwhile, and listed afterwards', async () => {
  const { key } = await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await clock.advance(10_000);
  const lock = connectSqlite(sqlitePathOf(gateway.program.databaseUrl), { readOnly: false });
  lock.exec('begin immediate');
  const asked = gateway.post(chat.path, { key, body: chat.body({ model: 'gpt-6-luna' }) });
  await told('books.not_writable');
  assert.equal(
    (await rowsOf(gateway.database, 'events', { type: 'books.not_writable' })).length,
    0,
  );
  lock.exec('rollback');
  lock.close();
  await untilNoticed(clock, async () => {
    const [event] = await rowsOf(gateway.database, 'events', { type: 'books.not_writable' });
    return event?.id === receiver.of('books.not_writable')[0]!.id;
  });
  await asked;
  await clock.advance(60_000);
  assert.equal(receiver.of('books.not_writable').length, 1);
});
