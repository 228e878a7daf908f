// Files of an account's money: statements as CSV, receipts as PDF, and the runway of its balance.
import assert from 'node:assert/strict';
import { inflateSync } from 'node:zlib';
import { after, before, test } from '../support/both-stores.ts';
import { signIn, type DashboardClient } from '../support/dashboard.ts';
import { endpoint } from '../support/endpoints.ts';
import { hooksOfFile } from '../support/file-hooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonOf, ok, type Reply } from '../support/http.ts';
import { startStripe, type LocalStripe } from '../support/stripe.ts';
import { TestClock } from '../support/test-clock.ts';

const hooks = hooksOfFile();
const chat = endpoint('chat');
const dayMs = 86_400_000;

let clock: TestClock;
let stripe: LocalStripe;
let gateway: TestGateway;

before(async () => {
  clock = new TestClock();
  stripe = await startStripe(hooks);
  gateway = await startGateway(
    {
      stripe: { ...stripe.config, fee_percent: 2.9, fee_fixed_cents: 30 },
      billing: {
        seller: ['Łódź Gateway Sp. z o.o.', 'ul. Piotrkowska 1', 'VAT ID PL1234567890'],
        receipt_note: 'Reverse charge: the recipient owes the tax.',
      },
    },
    { clock, tuning: stripe.tuning },
  );
  stripe.sendTo(gateway.url);
});
after(() => gateway.stop());

let requests = 0;
const requestId = () => `request-${(requests += 1)}`;

type Line = { kind: string; id: string; amount_micros: number };

test('a statement as CSV has every entry, adds up, and holds no formula', async () => {
  const operator = await signIn(gateway, { operator: true, role: null });
  const owner = await signIn(gateway);
  const { account } = owner;
  const adjust = async (kind: 'credit' | 'debit', amount_micros: number, note: string) => {
    const body = { request_id: requestId(), kind, mode: 'test', amount_micros, note };
    await ok(operator.post(`/operator/accounts/${account}/adjustments`, body));
  };
  const { key } = await gateway.makeKey({ account });
  const ask = async () => (await gateway.post(chat.path, { key, body: chat.body() })).costMicros!;
  await adjust('credit', 2_500_000, '=HYPERLINK("http://evil.example")');
  const first = await ask();
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10);
  clock.jumpTo(clock.nowMs() + dayMs);
  const second = await ask();
  await adjust('debit', 1_000_001, 'Refunded by bank transfer');

  const path = `/accounts/${account}/statement.csv?mode=test`;
  const whole = await owner.get(path);
  assert.equal(whole.headers['content-type'], 'text/csv; charset=utf-8; header=present');
  const [titles, ...rows] = rowsOf(whole);
  assert.deepEqual(titles, ['time', 'kind', 'id', 'note', 'requests', 'amount_usd', 'balance_usd']);
  const { postedMicros } = await gateway.balance(account, 'test');
  assert.equal(Number(rows.at(-1)![6]), postedMicros / 1e6);
  const paid = rows.map((row) => Math.round(Number(row[5] || 0) * 1e6));
  const total = paid.reduce((sum, amount) => sum + amount, 0);
  assert.equal(total, postedMicros);
  const kinds = rows.map(([, kind]) => kind).join(' ');
  assert.equal(kinds, 'opening credit credit charges debit charges closing');
  assert.ok(whole.text.includes(`"'=HYPERLINK(""http://evil.example"")"`));
  assert.ok(whole.text.includes(',-1.000001,'), 'a debit is a number');
  const [, opening, charges, closing] = rowsOf(
    await owner.get(`${path}&from=${day}&to=${day}`),
  ).filter(([, kind]) => kind !== 'credit');
  assert.deepEqual([opening![1], charges![4], closing![1]], ['opening', '1', 'closing']);
  assert.deepEqual(paid.slice(3, 6), [-first, -1_000_001, -second]);

  // Operators get the same file; nobody else does.
  const theirs = await operator.get(`/operator${path}`);
  assert.equal(theirs.text, whole.text);
  const stranger = await signIn(gateway);
  for (const refused of [
    await stranger.get(path),
    await stranger.get(`/operator${path}`),
    await operator.get('/operator/accounts/acc_none/statement.csv?mode=test'),
  ])
    assert.equal(refused.status, 404);
  const reversed = await owner.get(`${path}&from=2026-02-02&to=2026-02-01`);
  assert.equal(reversed.status, 400);
  assert.match(reversed.text, /`from` must be before `to`, or the same day/);
  assert.equal((await owner.get(`${path}&from=2026-02-31`)).status, 400);
});

test('a payment by card has a receipt with its fee, and with what was refunded since', async () => {
  const owner = await signIn(gateway);
  const { account } = owner;
  const body = { request_id: requestId(), amount_micros: 25_000_000 };
  const { checkout_url: address } = await jsonOf<{ checkout_url: string }>(
    owner.post(`/accounts/${account}/top-ups`, body),
  );
  await stripe.pay(address);
  const { data } = await jsonOf<{ data: Line[] }>(
    owner.get(`/accounts/${account}/statement?mode=live`),
  );
  const credit = data.find(({ kind }) => kind === 'credit')!;
  const receipt = async () => receiptOf(owner, credit.id);
  const receiptText = await receipt();
  for (const part of [
    'Receipt',
    // Helvetica has no Ł and no ź.
    'Lódz Gateway Sp. z o.o.',
    'VAT ID PL1234567890',
    account,
    `\n${account.slice(-8).toUpperCase()}-0001\n`,
    'Prepaid credit',
    '25.00 USD',
    'Card fee',
    '1.03 USD',
    'Paid',
    '26.03 USD',
    'Reverse charge: the recipient owes the tax.',
  ])
    assert.ok(receiptText.includes(part), `${part} in ${receiptText}`);
  assert.ok(!receiptText.includes('Refunded'));
  await ok(stripe.deliver(stripe.refunded(stripe.paymentOf(address), 500)));
  const later = await receipt();
  assert.ok(later.includes('26.03 USD') && later.includes('Refunded or disputed since'), later);
  assert.ok(later.includes('-5.00 USD'), later);

  const stranger = await signIn(gateway);
  for (const reply of [
    await stranger.get(`/accounts/${account}/receipt.pdf?${entryOf(credit.id)}`),
    await stranger.get(`/accounts/${stranger.account}/receipt.pdf?${entryOf(credit.id)}`),
    await owner.get(`/accounts/${account}/receipt.pdf?${entryOf('stripe:none:1')}`),
    await owner.get(`/accounts/${account}/receipt.pdf?${entryOf(`signup-${account}`)}`),
  ])
    assert.equal(reply.status, 404);
  assert.equal((await owner.get(`/accounts/${account}/receipt.pdf`)).status, 400);
});

test('receipts of an account are numbered in the order of their credits, each time the same', async () => {
  const operator = await signIn(gateway, { operator: true, role: null });
  const owner = await signIn(gateway);
  const { account } = owner;
  const credit = async (entryId?: string) => {
    const body = { kind: 'credit', mode: 'live', amount_micros: 1_000_000, note: 'Transfer' };
    const path = `/operator/accounts/${account}/adjustments`;
    const made = await operator.post(path, { request_id: entryId ?? requestId(), ...body });
    return made.json<{ entry_id: string }>().entry_id;
  };
  // Another account's, and those of play money, have none of these numbers.
  await gateway.makeKey({ mode: 'live', creditUsd: 5 });
  await gateway.makeKey({ account, mode: 'test' });
  const numberOf = async (entry: string) =>
    Number(/-(\d{4})$/m.exec(await receiptOf(owner, entry))![1]);
  const first = await credit();
  const entries = await Promise.all(Array.from({ length: 12 }, () => credit()));
  const numbers = await Promise.all(entries.map(numberOf));
  assert.deepEqual(
    numbers.toSorted((one, other) => one - other),
    Array.from({ length: 12 }, (_, index) => index + 2),
  );
  assert.equal(await numberOf(await credit()), 14);
  assert.deepEqual(await Promise.all([first, ...entries].map(numberOf)), [1, ...numbers]);
});

test('a name in any script gives a receipt, in Latin letters where the font has no others', async () => {
  const operator = await signIn(gateway, { operator: true, role: null });
  const names = [
    ['Müller & Söhne GmbH – “Ölmühle”', 'Müller & Söhne GmbH – “Ölmühle”'],
    ['Київстар', 'Kiivstar'],
    ['株式会社東京', 'ZhuShiHuiSheDongJing'],
    ['شركة النور', 'shrkh lnwr'],
    ['Ελλάδα ΑΕ', 'Ellada AE'],
    ['a\u202Eb🚀', 'ab'],
    [`${'x'.repeat(150)} ${'ж'.repeat(40)}`, 'zhzhzh'],
  ] as const;
  for (const [name, shown] of names) {
    const made = await operator.post('/operator/accounts', { request_id: requestId(), name });
    const { id } = made.json<{ id: string }>();
    const owner = await signIn(gateway, { account: id });
    const credit = { kind: 'credit', mode: 'live', amount_micros: 1_234_567 };
    const body = { request_id: requestId(), note: `Überweisung — ${name}`, ...credit };
    const booked = await operator.post(`/operator/accounts/${id}/adjustments`, body);
    const text = await receiptOf(owner, booked.json<{ entry_id: string }>().entry_id);
    assert.ok(text.replaceAll(/\s/g, '').includes(shown.replaceAll(/\s/g, '')), text);
    assert.match(text, /Confirmation of credit[^]*1\.234567 USD/);
  }
});

test('the runway is the balance divided by the average spend, and absent without spend', async () => {
  const owner = await signIn(gateway);
  const { key } = await gateway.makeKey({ account: owner.account });
  type Billing = { available_micros: number; runway: Record<string, number> | null };
  const runway = () => jsonOf<Billing>(owner.get(`/accounts/${owner.account}/billing?mode=test`));
  const cost = (await gateway.post(chat.path, { key, body: chat.body() })).costMicros!;
  assert.equal((await runway()).runway, null, 'today is not over');
  clock.jumpTo(clock.nowMs() + 2 * dayMs);
  const { available_micros: available, runway: reported } = await runway();
  const daily = Math.ceil(cost / 2);
  const left = Math.floor(available / daily);
  assert.deepEqual(reported, { days_left: left, daily_micros: daily, days: 2 });
});

function entryOf(id: string): string {
  return String(new URLSearchParams({ entry: id }));
}

function rowsOf({ status, text }: Reply): string[][] {
  assert.equal(status, 200, text);
  return text
    .trimEnd()
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!,
      ),
    );
}

/** Returns the text that a receipt shows. The letters of its fonts are those of Windows-1252. */
async function receiptOf({ account, cookie }: DashboardClient, entry: string): Promise<string> {
  const path = `/dashboard-api/accounts/${account}/receipt.pdf?${entryOf(entry)}`;
  const reply = await fetch(gateway.url + path, { headers: { cookie } });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'application/pdf');
  const pdf = Buffer.from(await reply.arrayBuffer());
  assert.equal(pdf.subarray(0, 5).toString('latin1'), '%PDF-');
  const shown: string[] = [];
  for (const { index } of pdf.toString('latin1').matchAll(/(?<!end)stream\r?\n/g)) {
    const start = pdf.indexOf('\n', index) + 1;
    const bytes = pdf.subarray(start, pdf.indexOf('endstream', start));
    // Streams of other kinds are not compressed.
    const content = bytes[0] === 0x78 ? inflateSync(bytes).toString('latin1') : '';
    for (const [, hex] of content.matchAll(/<([0-9A-F]*)> Tj/gi))
      shown.push(new TextDecoder('windows-1252').decode(Buffer.from(hex!, 'hex')));
  }
  return shown.join('\n');
}
