// Invitations by an admin key: how many one address gets, and mail that a mail server refuses.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { adminOf } from '../support/admin.ts';
import { startGateway } from '../support/gateway.ts';
import { startMailbox } from '../support/mailbox.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';

const clock = new TestClock();
const mailbox = await startMailbox();
const smtp = { url: mailbox.url, from: 'Tollgate <no-reply@gate.example>' };
const gateway = await startGateway({ smtp }, { clock });
const admin = await adminOf(gateway);
after(async () => {
  await gateway.stop();
  await mailbox.close();
});

type Invitation = { readonly id: string; readonly link: string; readonly mailed: boolean };

async function inviter(email: string) {
  const key = await adminOf(gateway);
  const path = `/accounts/${await key.makeAccount()}/invitations`;
  const body = { email, role: 'member' };
  const { read } = gateway.database;
  return {
    path,
    try: () => key.send('POST', path, { body }),
    send: (idempotencyKey: string) => key.ok<Invitation>('POST', path, { body, idempotencyKey }),
    /** The size of the kept answer, which has the mail until it is sent. */
    keptBytes: async () => {
      const query = read.selectFrom('admin_answers').select('body');
      const { body: kept } = await query
        .where('admin_key_id', '=', key.id)
        .executeTakeFirstOrThrow();
      return kept!.length;
    },
  };
}

/** Resolves when a later mail has arrived: what was sent before it has arrived, too. */
async function laterMail(name: string): Promise<void> {
  await (await inviter(`${name}@example.com`)).send(name);
  await mailbox.take(`${name}@example.com`);
}

test('the eleventh invitation of an address to an account is a 429 that says when to try again', async () => {
  const many = await inviter('many@example.com');
  for (let sent = 0; sent < 10; sent += 1) assert.equal((await many.try()).status, 200);
  const last = await many.try();
  const { code, message } = last.error;
  assert.deepEqual([last.status, code], [429, 'rate_limit_exceeded'], message);
  assert.equal(last.headers['retry-after'], '30');
  assert.equal((await (await inviter('many@example.com')).try()).status, 200);
  await clock.advance(30_000);
  assert.equal((await many.try()).status, 200);
});

test('an invitation stays when its mail is refused, and a repeated request sends the mail once', async () => {
  const email = 'refused@example.com';
  const guest = await inviter(email);
  mailbox.refuse(email);
  const first = await guest.send('order-1');
  assert.equal(first.mailed, true);
  await until(() => mailbox.refusals(email) === 1);
  const bytesWithMail = await guest.keptBytes();
  assert.deepEqual(await guest.send('order-1'), first, 'too early for another mail');
  await clock.advance(60_000);
  assert.deepEqual(await guest.send('order-1'), first);
  await until(() => mailbox.refusals(email) === 2);
  mailbox.accept(email);
  await clock.advance(60_000);
  assert.deepEqual(await guest.send('order-1'), first);
  const mail = await mailbox.take(email);
  assert.match(mail.text, /\/invitation\?token=/);
  assert.ok(!mail.text.includes(first.link), 'the link in the mail proves the address');
  await until(async () => (await guest.keptBytes()) < bytesWithMail / 2);
  await clock.advance(60_000);
  assert.deepEqual(await guest.send('order-1'), first);
  await laterMail('after-refused');
  assert.deepEqual(
    mailbox.mails.filter(({ to }) => to === email),
    [],
  );
});

test('the mail of a withdrawn invitation is not sent again', async () => {
  const email = 'withdrawn@example.com';
  const guest = await inviter(email);
  mailbox.refuse(email);
  const { id } = await guest.send('order-2');
  await until(() => mailbox.refusals(email) === 1);
  await admin.ok('DELETE', `${guest.path}/${id}`);
  mailbox.accept(email);
  await clock.advance(60_000);
  await guest.send('order-2');
  await laterMail('after-withdrawn');
  assert.deepEqual(
    mailbox.mails.filter(({ to }) => to === email),
    [],
  );
});
