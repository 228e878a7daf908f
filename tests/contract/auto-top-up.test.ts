// Automatic top-ups on both stores, with a local Stripe: one charge however many gateways look, and
// whatever is lost between them and Stripe; told failures; a ceiling that holds.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { sql } from 'kysely';
import type { Stripe } from 'stripe';
import type { ApiError } from '../../src/canonical/errors.ts';
import { AuditedChanges } from '../../src/domain/audit/audited-changes.ts';
import { mailOwners } from '../../src/domain/alerts/endpoints.ts';
import { chargedInMonth } from '../../src/domain/billing/auto-top-ups.ts';
import { compareBookings } from '../../src/domain/billing/compare-bookings.ts';
import { readEvent } from '../../src/domain/billing/read-event.ts';
import { openLedger } from '../../src/domain/ledger/open-ledger.ts';
import { readBalance } from '../../src/domain/ledger/reports/queries.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { micros } from '../../src/lib/money.ts';
import { dayMs, monthOf } from '../../src/lib/utc-time.ts';
import { setAutoTopUp } from '../../src/management/changes/auto-top-up.ts';
import { addAccount } from '../support/ledger/test-ledger.ts';
import fc from '../support/property.ts';
import { rowOf, rowsOf, setRows } from '../support/rows.ts';
import {
  type ChargeFault,
  type CheckoutSession,
  type Intent,
  startStripe,
} from '../support/stripe.ts';
import { TestClock } from '../support/test-clock.ts';
import { until } from '../support/until.ts';
import { type OpenToppingUp, openToppingUp } from '../support/topping-up.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const dollar = 1_000_000;
const minuteMs = 60_000;
const customer = 'cus_1';

type Amounts = { readonly below?: number; readonly amount?: number; readonly ceiling?: number };

async function open(t: TestContext, store: StoreKind, amounts: Amounts = {}, fixedCents = 0) {
  const { below = 5, amount = 20, ceiling = 1_000 } = amounts;
  const database = await store.openDatabase(t);
  const clock = new TestClock();
  const stripe = await startStripe(t);
  const gateways: OpenToppingUp[] = [];
  // All gateways share it: to open one for each takes longer than a test.
  const ledger = await openLedger({
    databaseUrl: database.url,
    owner: 'run',
    clock,
    databaseTime: clock.shared,
  });
  const start = () => {
    const stripeUrl = stripe.url;
    const gateway = openToppingUp({
      databaseUrl: database.url,
      ledger,
      stripeUrl,
      clock,
      fixedCents,
    });
    gateways.push(gateway);
    return gateway;
  };
  t.after(async () => {
    await ledger.close();
    await Promise.all(gateways.map((gateway) => gateway.close()));
  });
  await addAccount(database, 'acc', []);
  await saveSettings('acc');
  await mailOwners(database.write, 'acc', {
    types: ['auto_top_up.failed', 'auto_top_up.ceiling_reached'],
    nowMs: 1,
  });
  const gateway = start();
  let entries = 0;
  const change = async (usd: number) => {
    const reply = await ledger.submit({
      type: usd > 0 ? 'credit' : 'debit',
      entryId: `e${(entries += 1)}`,
      ledgerId: 'acc:live',
      amountMicros: micros(Math.abs(usd) * dollar),
      note: 'test',
    });
    assert.match(reply.type, /ed$/);
  };
  const record = async (event: object) => {
    const update = readEvent(event as Stripe.Event);
    assert.ok(update && update.kind !== 'card');
    await gateway.payments.record(update);
  };
  return {
    database,
    clock,
    stripe,
    gateway,
    start,
    change,
    record,
    tell: (id: string) => record(stripe.succeeded({ id })),
    wait: (minutes: number) => clock.jumpTo(clock.nowMs() + minutes * minuteMs),
    look: () => gateway.autoTopUps.check(),
    usd: async () => (await readBalance(database.read, 'acc:live'))!.postedMicros / dollar,
    settings: () => rowOf(database, 'auto_top_ups', { account_id: 'acc' }),
    attempts: () => rowsOf(database, 'top_ups', { account_id: 'acc' }),
    states: async () =>
      (await rowsOf(database, 'top_ups', { account_id: 'acc' })).map(({ state }) => state),
    told: (type: string) => rowsOf(database, 'events', { type }),
    saveSettings,
  };

  async function saveSettings(accountId: string) {
    await database.write
      .insertInto('auto_top_ups')
      .values({
        account_id: accountId,
        threshold_micros: micros(below * dollar),
        amount_micros: micros(amount * dollar),
        ceiling_micros: micros(ceiling * dollar),
        user_id: 'usr_owner',
        customer_id: customer,
        card_id: 'pm_1',
        card_brand: 'visa',
        card_last4: '4242',
      })
      .execute();
  }
}

type Opened = Awaited<ReturnType<typeof open>>;

async function assertWhole({ database }: Opened): Promise<void> {
  const proof = await verify(database.read, [compareBookings]);
  assert.ok(proof.ok, JSON.stringify(proof));
}

/** `allowed`: what an owner has set; `changes` are those of an owner. */
async function openSettings(t: TestContext, store: StoreKind) {
  const { database, clock, settings } = await open(t, store);
  const actor = { kind: 'user', id: 'usr_1', name: 'Ann', address: null } as const;
  const changes = new AuditedChanges({ database, actorOf: () => actor, clock });
  const { threshold_micros, amount_micros, ceiling_micros } = await settings();
  const allowed = {
    threshold_micros: threshold_micros!,
    amount_micros: amount_micros!,
    ceiling_micros: ceiling_micros!,
  };
  return { database, settings, changes, allowed };
}

onEachStore((store) => {
  test('a balance at the threshold is left alone; below it the card is charged once', async (t) => {
    const opened = await open(t, store, {}, 30);
    const { stripe, change, look, usd, database } = opened;
    await change(5);
    await look();
    assert.equal(stripe.intents.length, 0);
    await change(-1);
    await look();
    await look();
    assert.equal(await usd(), 24);
    const [intent] = stripe.intents;
    assert.deepEqual([stripe.intents.length, intent!.amount], [1, 2_030], 'credit and fee');
    assert.equal((await rowOf(database, 'top_ups', {})).state, 'paid');
    const actions = (await rowsOf(database, 'audit_log')).map(({ action }) => action);
    assert.deepEqual(actions.toSorted(), ['payment.receive', 'top-up.start']);
    await assertWhole(opened);
  });

  test('many gateways that look at once make one charge', async (t) => {
    const opened = await open(t, store);
    const gateways = [opened.gateway, opened.start(), opened.start()];
    for (let round = 1; round <= 5; round++) {
      opened.stripe.onCharge = (intent) => opened.tell(intent.id);
      await Promise.all(
        gateways.flatMap(({ autoTopUps }) => [autoTopUps.check(), autoTopUps.check()]),
      );
      assert.equal(opened.stripe.intents.length, round);
      assert.equal(await opened.usd(), 20);
      await opened.change(-20);
    }
    await assertWhole(opened);
  });

  for (const fault of ['lost', 'unheard', 'broken'] as const)
    test(`when an answer is ${fault}, there is one charge, credited once`, async (t) => {
      const opened = await open(t, store);
      const { stripe, look, usd } = opened;
      const other = opened.start();
      stripe.chargeFaults.push(fault);
      await look();
      assert.equal(await usd(), 0);
      assert.equal(stripe.intents.length, fault === 'lost' ? 1 : 0);
      await look();
      assert.equal((await opened.attempts()).length, 1, 'nothing else is tried');
      opened.wait(1);
      await Promise.all([look(), other.autoTopUps.check()]);
      assert.deepEqual([stripe.intents.length, await usd()], [1, 20]);
      await opened.tell(stripe.intents[0]!.id);
      opened.wait(1);
      await look();
      assert.deepEqual([stripe.intents.length, await usd()], [1, 20], 'its event changes nothing');
      await assertWhole(opened);
    });

  test('what Stripe never heard of is given up after an hour, told, and pauses', async (t) => {
    const opened = await open(t, store);
    const { stripe, look } = opened;
    for (let minute = 0; minute <= 63; minute += 9) {
      stripe.chargeFaults.push('unheard');
      await look();
      opened.wait(9);
    }
    assert.deepEqual(
      (await opened.attempts()).map(({ problem }) => problem),
      ['no-answer'],
    );
    assert.equal((await opened.told('auto_top_up.failed')).length, 1);
    stripe.chargeFaults.length = 0;
    await look();
    assert.equal(stripe.intents.length, 0, 'it is paused');
  });

  for (const [what, stop] of [
    ['the account is frozen', (of: Opened) => setRows(of.database, 'accounts', {}, { frozen: 1 })],
    [
      'it is turned off',
      (of: Opened) => setRows(of.database, 'auto_top_ups', {}, { threshold_micros: null }),
    ],
    [
      'the card is replaced',
      (of: Opened) => setRows(of.database, 'auto_top_ups', {}, { card_id: 'pm_2' }),
    ],
  ] as const)
    test(`when ${what} before Stripe heard of a charge, it is not made`, async (t) => {
      const opened = await open(t, store);
      opened.stripe.chargeFaults.push('unheard');
      await opened.look();
      await stop(opened);
      for (let minute = 0; minute < 5; minute++) {
        opened.wait(1);
        await opened.look();
      }
      assert.equal(opened.stripe.intents.length, 0);
      assert.equal((await opened.attempts()).length, 1);
      opened.wait(60);
      await opened.look();
      const [attempt] = (await opened.attempts()).filter(({ card_id }) => card_id === 'pm_1');
      assert.equal(attempt!.state, 'failed');
      const { paused_reason: paused } = await opened.settings();
      assert.equal(paused, what === 'the account is frozen' ? 'no-answer' : null);
      const told = paused === null ? 0 : 1;
      assert.equal((await opened.told('auto_top_up.failed')).length, told);
      const pauses = await rowsOf(opened.database, 'audit_log', { action: 'auto-top-up.pause' });
      assert.equal(pauses.length, told);
    });

  test('a frozen account is not charged', async (t) => {
    const opened = await open(t, store);
    await setRows(opened.database, 'accounts', {}, { frozen: 1 });
    await opened.look();
    assert.equal((await opened.attempts()).length, 0);
    await setRows(opened.database, 'accounts', {}, { frozen: 0 });
    await opened.look();
    assert.equal(opened.stripe.intents.length, 1);
  });

  for (const [fault, problem] of [
    ['card_declined', 'declined'],
    ['authentication_required', 'authentication-required'],
    ['expired_card', 'expired'],
  ] as const)
    test(`${fault}: owners are told once, and no charge is tried until they act`, async (t) => {
      const opened = await open(t, store);
      const { stripe, look } = opened;
      stripe.chargeFaults.push(fault);
      for (let minute = 0; minute < 5; minute++) {
        await look();
        opened.wait(1);
      }
      assert.equal(stripe.intents.length, 1);
      const [attempt] = await opened.attempts();
      assert.deepEqual([attempt!.state, attempt!.problem], ['failed', problem]);
      assert.equal((await opened.settings()).paused_reason, problem);
      const [event, ...others] = await opened.told('auto_top_up.failed');
      assert.deepEqual(
        [JSON.parse(event!.data), others],
        [
          {
            account_id: 'acc',
            account_name: 'acc',
            top_up_id: attempt!.id,
            amount_micros: 20 * dollar,
            reason: problem,
          },
          [],
        ],
      );
      assert.equal((await rowsOf(opened.database, 'event_deliveries')).length, 1);
    });

  test('an error that Stripe has saved for one attempt keeps no other account waiting', async (t) => {
    const opened = await open(t, store);
    const { stripe, look, database } = opened;
    stripe.chargeFaults.push('broken-for-good');
    await look();
    await addAccount(database, 'acc2', []);
    await opened.saveSettings('acc2');
    opened.wait(1);
    await look();
    assert.deepEqual(
      stripe.intents.map(({ metadata }) => metadata['account']),
      ['acc2'],
    );
    opened.wait(60);
    await look();
    assert.equal((await opened.settings()).paused_reason, 'no-answer');
    assert.equal(stripe.intents.length, 1);
  });

  for (const what of ['refund', 'dispute'] as const)
    test(`after a ${what} the card is not charged again until an owner acts, which is told once`, async (t) => {
      const opened = await open(t, store);
      const { stripe, look, database } = opened;
      const giveBack = (part: number) => {
        const session = { amountCents: 2_000, currency: 'usd' } as CheckoutSession;
        const payment = { session, intent: stripe.intents[0]!.id, charge: 'ch_1' };
        const event =
          what === 'refund'
            ? stripe.refunded(payment, part)
            : stripe.dispute(payment, 'funds_withdrawn', { id: `du_${part}`, cents: part });
        return opened.record(event);
      };
      await look();
      await giveBack(500);
      await giveBack(1_800);
      assert.ok((await opened.usd()) < 5);
      for (let minute = 0; minute < 3; minute++) {
        opened.wait(1);
        await look();
      }
      assert.equal(stripe.intents.length, 1);
      assert.equal((await opened.settings()).paused_reason, 'returned');
      const [event, ...others] = await opened.told('auto_top_up.failed');
      assert.deepEqual([JSON.parse(event!.data).reason, others], ['returned', []]);
      await setRows(database, 'auto_top_ups', {}, { paused_at_ms: null, paused_reason: null });
      await look();
      assert.equal(stripe.intents.length, 2);
      await assertWhole(opened);
    });

  test('a checkout that begins while another ends leaves the card in force at Stripe', async (t) => {
    const opened = await open(t, store);
    const { stripe, database, gateway } = opened;
    const begin = async (key: string) => {
      const fields = { mode: 'setup', customer, success_url: '', cancel_url: '' };
      const { id: checkout_id } = stripe.open(fields, key);
      await setRows(database, 'auto_top_ups', {}, { checkout_id });
      return checkout_id;
    };
    const first = await begin('first');
    stripe.onReadCard = async () => void (await begin('second'));
    await gateway.autoTopUps.saveCard(first);
    assert.deepEqual([(await opened.settings()).card_id, stripe.detached], ['pm_1', []]);
    stripe.onReadCard = () => {};
    const { checkout_id: second } = await opened.settings();
    await gateway.autoTopUps.saveCard(second!);
    await gateway.autoTopUps.saveCard(second!);
    assert.deepEqual(
      [(await opened.settings()).card_id, stripe.detached],
      [`pm_${second}`, ['pm_1']],
    );
  });

  test('a charge that is processed for long is waited for', async (t) => {
    const opened = await open(t, store);
    const { stripe, look } = opened;
    stripe.chargeFaults.push('processing');
    for (let hour = 0; hour < 30; hour += 5) {
      await look();
      opened.wait(5 * 60);
    }
    assert.equal(stripe.intents.length, 1);
    stripe.settle(stripe.intents[0]!.id);
    await look();
    assert.equal(await opened.usd(), 20);
  });

  test('a payment that is decided but not in the balance yet keeps another charge away', async (t) => {
    const opened = await open(t, store);
    await opened.look();
    await opened.change(-20);
    await setRows(opened.database, 'payment_bookings', {}, { booked_at_ms: null });
    await opened.look();
    assert.equal(opened.stripe.intents.length, 1);
    await opened.gateway.payments.bookPending(opened.clock.nowMs() + 1);
    await opened.look();
    assert.equal(opened.stripe.intents.length, 2);
  });

  test('a payment of another customer under the same reference is credited to nobody', async (t) => {
    const opened = await open(t, store);
    const { stripe } = opened;
    stripe.chargeFaults.push('unheard');
    await opened.look();
    const [attempt] = await opened.attempts();
    const foreign = {
      off_session: 'true',
      confirm: 'true',
      currency: 'usd',
      amount: '2000',
      customer: 'cus_other',
      'metadata[account]': 'acc',
      'metadata[auto_top_up]': attempt!.id,
    };
    const { id } = stripe.charge(foreign, 'another program');
    await opened.tell(id);
    assert.equal(await opened.usd(), 0);
    assert.equal((await rowOf(opened.database, 'payments', { id })).problem, 'unknown-account');
  });

  test('a wrong amount that an operator dismisses counts below the ceiling, and the next charge is made', async (t) => {
    const opened = await open(t, store, { ceiling: 45 });
    const { stripe, look, database, gateway } = opened;
    stripe.chargeFaults.push('lost');
    await look();
    const [{ id }] = stripe.intents as [Intent];
    stripe.intents[0] = { ...stripe.intents[0]!, amount: 1_900 };
    opened.wait(1);
    await look();
    assert.equal((await rowOf(database, 'payments', { id })).problem, 'wrong-amount');
    const dismissal = { kind: 'dismiss', note: 'refunded by hand' } as const;
    await gateway.payments.resolve(id, dismissal, async () => {});
    for (let round = 0; round < 3; round++) {
      await look();
      await opened.change(-20);
    }
    assert.equal(stripe.intents.length, 2);
    assert.deepEqual((await opened.states()).toSorted(), ['failed', 'paid']);
  });

  test('a wrong amount for an attempt that was given up is recorded beside a newer attempt', async (t) => {
    const opened = await open(t, store);
    const { stripe, look, database } = opened;
    stripe.chargeFaults.push('lost');
    await look();
    const { id } = stripe.intents[0]!;
    stripe.intents[0] = { ...stripe.intents[0]!, amount: 1_900 };
    await setRows(database, 'top_ups', {}, { state: 'failed', problem: 'no-answer' });
    stripe.chargeFaults.push('processing');
    await look();
    await opened.tell(id);
    assert.equal((await rowOf(database, 'payments', { id })).problem, 'wrong-amount');
    assert.deepEqual((await opened.states()).toSorted(), ['failed', 'processing']);
  });

  for (const [what, fault, lose] of [
    ['whose customer Stripe does not know', 'unheard', true],
    ['that Stripe left unconfirmed', 'unconfirmed', false],
  ] as const)
    test(`an attempt ${what} is given up after an hour`, async (t) => {
      const opened = await open(t, store);
      const { stripe, look } = opened;
      stripe.chargeFaults.push(fault);
      await look();
      // Repeating it is not heard either.
      if (lose) stripe.lostCustomers.add(customer);
      for (let minute = 0; minute < 63; minute += 9) {
        opened.wait(9);
        if (lose) stripe.chargeFaults.push('unheard');
        await look();
      }
      const [attempt] = await opened.attempts();
      assert.deepEqual([attempt!.state, attempt!.problem], ['failed', 'no-answer']);
      assert.equal((await opened.settings()).paused_reason, 'no-answer');
    });

  test('a refund of a payment that an operator assigned pauses, too', async (t) => {
    const opened = await open(t, store);
    const { stripe, look, gateway, database } = opened;
    const session = { id: 'cs_link', amountCents: 2_000, currency: 'usd', reference: null };
    const payment = {
      session: { ...session, url: '', successUrl: '', cancelUrl: '', fields: {} },
      intent: 'pi_link',
      charge: 'ch_link',
    };
    const { record } = opened;
    await record(stripe.completed(payment));
    const assignment = { kind: 'assign', accountId: 'acc', note: 'by invoice' } as const;
    await gateway.payments.resolve('pi_link', assignment, async () => {});
    await look();
    assert.deepEqual([await opened.usd(), stripe.intents.length], [20, 0]);
    await record(stripe.refunded(payment, 2_000));
    await look();
    assert.deepEqual([await opened.usd(), stripe.intents.length], [0, 0]);
    assert.equal((await rowOf(database, 'auto_top_ups', {})).paused_reason, 'returned');
  });

  test('who turns it on while another owner removes the card is told that there is none', async (t) => {
    const { database, settings, changes, allowed } = await openSettings(t, store);
    const more = { ...allowed, threshold_micros: micros(allowed.threshold_micros + 1) };
    let turnedOn: Promise<string> | undefined;
    await database.write.transaction().execute(async (removing) => {
      const none = { card_id: null, threshold_micros: null };
      await removing.updateTable('auto_top_ups').set(none).execute();
      const order = { accountId: 'acc', userId: 'usr_1', settings: more, isConfirmed: true };
      turnedOn = setAutoTopUp(changes, order).then(
        () => 'on',
        ({ code }: ApiError) => code,
      );
      const waiting = sql`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      if (store.dialect === 'postgres')
        await until(async () => (await waiting.execute(database.read)).rows.length > 0);
    });
    assert.deepEqual([await turnedOn, (await settings()).threshold_micros], ['conflict', null]);
  });

  test('what was judged to allow no more is refused once an owner has allowed less, or it is paused', async (t) => {
    const { database, settings, changes, allowed: judged } = await openSettings(t, store);
    const order = { accountId: 'acc', userId: 'usr_1', settings: judged, isConfirmed: false };
    for (const meanwhile of [
      { ceiling_micros: micros(judged.ceiling_micros - 1) },
      { paused_at_ms: 1, paused_reason: 'declined' },
    ] as const) {
      await setRows(database, 'auto_top_ups', {}, { ...judged, ...meanwhile });
      await assert.rejects(setAutoTopUp(changes, order), { code: 'conflict' });
      assert.partialDeepStrictEqual(await settings(), meanwhile);
    }
    await setAutoTopUp(changes, { ...order, isConfirmed: true });
    assert.partialDeepStrictEqual(await settings(), { ...judged, paused_at_ms: null });
  });

  test('a gateway that is killed while Stripe has its request has charged once', async (t) => {
    const opened = await open(t, store);
    const { stripe, database } = opened;
    const asked = Promise.withResolvers<void>();
    const never = new Promise<void>(() => {});
    stripe.onCharge = () => {
      asked.resolve();
      return never;
    };
    const program = 'tests/support/killed-top-up.ts';
    const child = spawn(process.execPath, [program, database.url, stripe.url], {
      stdio: 'inherit',
    });
    await asked.promise;
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.deepEqual(await opened.states(), ['open']);
    stripe.onCharge = () => {};
    opened.clock.jumpTo(systemClock.nowMs() + 2 * minuteMs);
    const others = [opened.gateway, opened.start()];
    await Promise.all(others.map(({ autoTopUps }) => autoTopUps.check()));
    await opened.look();
    assert.deepEqual([stripe.intents.length, await opened.usd()], [1, 20]);
    await assertWhole(opened);
  });

  test('at the ceiling of the month nothing is charged, which is told once, and the next month goes on', async (t) => {
    const opened = await open(t, store, { amount: 20, ceiling: 60.5 }, 30);
    const { clock, look, stripe, change } = opened;
    clock.jumpTo(Date.UTC(2026, 10, 30, 23, 50));
    for (let round = 0; round < 5; round++) {
      await look();
      await change(-20);
    }
    assert.equal(stripe.intents.length, 2);
    const [event, ...others] = await opened.told('auto_top_up.ceiling_reached');
    assert.deepEqual([JSON.parse(event!.data).month, others], ['2026-11', []]);
    clock.jumpTo(Date.UTC(2026, 11, 1, 0, 1));
    await look();
    assert.equal(stripe.intents.length, 3);
  });

  test('under any spending, faults, events and months: the ceiling holds, and each payment is credited once', async (t) => {
    const step = fc.oneof(
      fc.record({ spend: fc.integer({ min: 1, max: 60 }) }),
      fc.record({
        fault: fc.constantFrom<ChargeFault>(
          'lost',
          'unheard',
          'broken',
          'broken-for-good',
          'processing',
          'card_declined',
        ),
      }),
      fc.record({ days: fc.integer({ min: 1, max: 20 }) }),
      fc.record({ minutes: fc.integer({ min: 1, max: 90 }) }),
      fc.constant({ event: true }),
      fc.constant({ resume: true }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 50, max: 150 }),
        fc.array(step, { minLength: 5, maxLength: 25 }),
        async (amount, ceiling, steps) => {
          const opened = await open(t, store, { below: 10, amount, ceiling }, 30);
          const { stripe, clock, database } = opened;
          const other = opened.start();
          let spent = 0;
          const inMonths = new Map<string, number>();
          for (const taken of steps) {
            if ('spend' in taken) {
              await opened.change(-taken.spend);
              spent += taken.spend;
            }
            if ('fault' in taken) stripe.chargeFaults.push(taken.fault);
            if ('days' in taken) clock.jumpTo(clock.nowMs() + taken.days * dayMs);
            if ('minutes' in taken) opened.wait(taken.minutes);
            if ('resume' in taken)
              await setRows(database, 'auto_top_ups', {}, { paused_at_ms: null });
            const paid = stripe.intents.filter(({ status }) => status === 'succeeded');
            if ('event' in taken && paid.length > 0) await opened.tell(paid[0]!.id);
            await Promise.all([opened.look(), other.autoTopUps.check()]);
            const month = await chargedInMonth(database.read, 'acc', clock.nowMs());
            assert.ok(month <= ceiling * dollar, `${month} of ${ceiling}`);
          }
          stripe.chargeFaults.length = 0;
          for (const { id, status } of stripe.intents)
            if (status === 'processing') stripe.settle(id);
          await setRows(database, 'auto_top_ups', {}, { threshold_micros: null });
          opened.wait(2 * 60);
          await opened.look();
          const made = await opened.attempts();
          const paid = stripe.intents.filter(({ status }) => status === 'succeeded');
          assert.equal(
            new Set(stripe.intents.map(({ metadata }) => metadata['auto_top_up'])).size,
            stripe.intents.length,
            'an attempt was charged twice',
          );
          assert.equal(made.filter(({ state }) => state === 'paid').length, paid.length);
          assert.ok(made.every(({ state }) => state === 'paid' || state === 'failed'));
          assert.equal(await opened.usd(), paid.length * amount - spent);
          for (const { metadata, amount: cents } of paid) {
            const { created_at_ms } = made.find((one) => one.id === metadata['auto_top_up'])!;
            const name = monthOf(created_at_ms);
            inMonths.set(name, (inMonths.get(name) ?? 0) + cents);
          }
          for (const cents of inMonths.values()) assert.ok(cents <= ceiling * 100);
          await assertWhole(opened);
        },
      ),
      { numRuns: 12 },
    );
  });
});
