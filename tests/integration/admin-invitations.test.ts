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
after(async () => {
  await gateway.stop();
  await mailbox.close();
});

type Invitation = { readonly id: string; readonly link: string; readonly mailed: boolean };

async function inviter(email: string) {
  const key = await adminOf(gateway);
  const path = `/accounts/${await key.makeAccount()}/invitations`;
  const body = { email, role: 'member' };
  return {
    path,
    try: () => key.send('POST', path, { body }),
    send: (idempotencyKey: string) => key.ok<Invitation>('POST', path, { body, idempotencyKey }),
  };
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

test('an invitation stays when its mail is refused, and a repeated request sends no other', async () => {
  const email = 'refused@example.com';
  const guest = await inviter(email);
  mailbox.refuse(email);
  const first = await guest.send('order-1');
  assert.equal(first.mailed, true);
  await until(() => mailbox.refusals(email) === 1);
  mailbox.accept(email);
  assert.deepEqual(await guest.send('order-1'), first);
  const other = await guest.send('order-2');
  const mail = await mailbox.take(email);
  assert.match(mail.text, /\/invitation\?token=/);
  assert.ok(!mail.text.includes(other.link), 'the link in the mail proves the address');
  assert.deepEqual(
    mailbox.mails.filter(({ to }) => to === email),
    [],
  );
});
