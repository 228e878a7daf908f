// Payments on both stores: with events in any order, repeated, concurrent, and with failing writes
// in between, the balance matches the events.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { recordBooking } from '../../src/domain/audit/audit-log.ts';
import { compareBookings } from '../../src/domain/billing/compare-bookings.ts';
import { listPayments, Payments } from '../../src/domain/billing/payments.ts';
import type { PaymentEvent } from '../../src/domain/billing/position.ts';
import type { PaymentUpdate } from '../../src/domain/billing/read-event.ts';
import { openTopUp, setCheckout } from '../../src/domain/billing/top-ups.ts';
import type { Database } from '../../src/db/database.ts';
import type { Ledger } from '../../src/domain/ledger/commands.ts';
import { addAccount } from '../support/ledger/test-ledger.ts';
import { openLedger } from '../../src/domain/ledger/open-ledger.ts';
import { readBalance } from '../../src/domain/ledger/reports/queries.ts';
import { verify } from '../../src/domain/ledger/reports/verify.ts';
import { micros } from '../../src/lib/money.ts';
import fc from '../support/property.ts';
import { TestClock } from '../support/test-clock.ts';
import { select } from './books.ts';
import { planOf } from './plan.ts';
import { onEachStore, type StoreKind } from './stores.ts';

const dollar = 1_000_000;
let accounts = 0;
let eventIds = 0;

type Books = { readonly database: Database; readonly ledger: Ledger; readonly clock: TestClock };

async function openBooks(t: TestContext, store: StoreKind): Promise<Books> {
  const database = await store.openDatabase(t);
  const clock = new TestClock();
  const ledger = await openLedger({
    databaseUrl: database.url,
    owner: 'run_payments',
    clock,
    databaseTime: clock.shared,
  });
  t.after(() => ledger.close());
  return { database, ledger, clock };
}

/** An account that is about to pay ten dollars. */
async function newTopUp({ database }: Books, usd = 10) {
  const accountId = `acc_${(accounts += 1)}`;
  await addAccount(database, accountId, []);
  const asked = {
    accountId,
    userId: 'usr',
    requestId: 'r1',
    amountMicros: micros(usd * dollar),
    feeMicros: micros(0),
  };
  const { topUp } = (await openTopUp(database.write, asked))!;
  const checkoutId = `cs_${accountId}`;
  await setCheckout(database.write, topUp.id, {
    id: checkoutId,
    url: `https://checkout.example/pay/${checkoutId}`,
  });
  return { accountId, topUpId: topUp.id, checkoutId, paymentId: `pi_${accountId}` };
}

const unnoted = async () => {};

async function balanceUsd({ database }: Books, accountId: string): Promise<number> {
  return (await readBalance(database.read, `${accountId}:live`))!.postedMicros / dollar;
}

async function listWaiting({ database }: Books) {
  return (await listPayments(database.read, { isWaiting: true, limit: 10, cursor: null })).rows;
}

function eventOf(
  type: PaymentEvent['type'],
  usd: number,
  atS: number,
  more: Partial<PaymentEvent> = {},
): PaymentEvent {
  const id = `evt_${(eventIds += 1)}`;
  const times = { beganAtMs: atS * 1_000, happenedAtMs: atS * 1_000 };
  return {
    id,
    type,
    objectId: 'object',
    status: null,
    amountMicros: micros(usd * dollar),
    currency: 'usd',
    ...times,
    ...more,
  };
}

type Paying = Awaited<ReturnType<typeof newTopUp>>;

function paidUpdate(
  { paymentId, topUpId, checkoutId, accountId }: Paying,
  usd: number,
  more: Partial<PaymentEvent> = {},
): PaymentUpdate {
  const event = eventOf('checkout.session.completed', usd, 1, more);
  const metadata = { topUpId, accountId };
  const checkout = { id: checkoutId, reference: topUpId, metadata, customerId: null };
  return { kind: 'payment', paymentId, event, checkout };
}

function laterUpdate({ paymentId }: Paying, event: PaymentEvent): PaymentUpdate {
  return { kind: 'payment', paymentId, event, checkout: null };
}

/**
 * The possible events of a payment, in order, with the expected balance computed in the plainest
 * way.
 */
type Step = 'refund' | 'fail-refund' | 'dispute' | 'win' | 'lose';

function history(
  paying: Paying,
  steps: readonly Step[],
): { readonly updates: PaymentUpdate[]; readonly worth: number } {
  const updates: PaymentUpdate[] = [paidUpdate(paying, 10)];
  let refunded = 0;
  let openRefund: { readonly id: string; readonly beganS: number } | null = null;
  let disputed = false;
  steps.forEach((step, index) => {
    const atS = 10 + index * 10;
    const tell = (type: PaymentEvent['type'], usd: number, more: Partial<PaymentEvent> = {}) =>
      updates.push(laterUpdate(paying, eventOf(type, usd, atS, more)));
    if (step === 'refund' && refunded < 10) {
      refunded += 1;
      openRefund = { id: `re_${index}`, beganS: atS };
      tell('charge.refunded', refunded, { objectId: 'ch' });
    } else if (step === 'fail-refund' && openRefund) {
      refunded -= 1;
      tell('refund.failed', 1, { objectId: openRefund.id, beganAtMs: openRefund.beganS * 1_000 });
      openRefund = null;
    } else if (step === 'dispute' && !disputed) {
      disputed = true;
      tell('charge.dispute.created', 10, { objectId: 'du', status: 'needs_response' });
      tell('charge.dispute.funds_withdrawn', 10, { objectId: 'du', status: 'needs_response' });
    } else if (step === 'win' && disputed) {
      disputed = false;
      tell('charge.dispute.closed', 10, { objectId: 'du', status: 'won' });
      tell('charge.dispute.funds_reinstated', 10, { objectId: 'du', status: 'won' });
    } else if (step === 'lose' && disputed) {
      tell('charge.dispute.closed', 10, { objectId: 'du', status: 'lost' });
    }
  });
  return { updates, worth: 10 - refunded - (disputed ? 10 : 0) };
}

/** Stripe resends events that were not acknowledged. */
async function recordUntilDone(payments: Payments, update: PaymentUpdate): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    try {
      return await payments.record(update);
    } catch (error) {
      if ((error as Error).message !== 'injected') throw error;
    }
  }
  assert.fail('never taken');
}

/** Fails sometimes, before or after the entry was written. */
function unreliable(
  ledger: Ledger,
  faults: readonly ('before' | 'after' | 'none')[],
): Pick<Ledger, 'submit'> {
  let calls = 0;
  return {
    submit: async (command) => {
      const fault = faults[calls++ % faults.length];
      if (fault === 'before') throw new Error('injected');
      const outcome = await ledger.submit(command);
      if (fault === 'after') throw new Error('injected');
      return outcome;
    },
  };
}

onEachStore((store) => {
  test('events in any order, repeated, concurrent and with failures give the same balance', async (t) => {
    const books = await openBooks(t, store);
    const { database, ledger, clock } = books;
    const step = fc.constantFrom<Step>('refund', 'fail-refund', 'dispute', 'win', 'lose');
    const fault = fc.constantFrom<'before' | 'after' | 'none'>('before', 'after', 'none', 'none');
    const deliveries = fc.record({
      steps: fc.array(step, { maxLength: 7 }),
      order: fc.infiniteStream(fc.nat({ max: 1_000 })),
      width: fc.integer({ min: 1, max: 5 }),
      faults: fc.array(fault, { minLength: 3, maxLength: 9 }),
    });
    await fc.assert(
      fc.asyncProperty(deliveries, async ({ steps, order, width, faults }) => {
        const paying = await newTopUp(books);
        const { updates, worth } = history(paying, steps);
        const twice = [...updates, ...updates]
          .map((item) => ({ item, rank: order.next().value }))
          .toSorted((one, other) => one.rank - other.rank);
        // Two gateways; one of them loses writes.
        const gateways = [ledger, unreliable(ledger, [...faults, 'none'])].map(
          (either) => new Payments({ database, ledger: either, recordBooking, clock }),
        );
        for (let start = 0; start < twice.length; start += width) {
          await Promise.all(
            twice
              .slice(start, start + width)
              .map(({ item }, index) => recordUntilDone(gateways[index % 2]!, item)),
          );
        }
        assert.equal(await balanceUsd(books, paying.accountId), worth);
      }),
      { numRuns: 30 },
    );
    const proof = await verify(database.read, [compareBookings]);
    assert.equal(proof.ok, true, JSON.stringify(proof));
  });

  test('a refund or a dispute that arrives before its payment waits for it', async (t) => {
    const books = await openBooks(t, store);
    const payments = new Payments({ ...books, recordBooking });
    const paying = await newTopUp(books);
    await payments.record(laterUpdate(paying, eventOf('charge.refunded', 4, 20)));
    assert.equal(await balanceUsd(books, paying.accountId), 0);
    await payments.record(paidUpdate(paying, 10));
    assert.equal(await balanceUsd(books, paying.accountId), 6);
    const entries = `select kind, note from entries where ledger_id = '${paying.accountId}:live'`;
    assert.deepEqual(await select(books.database, `${entries} order by seq`), [
      ['credit', `top-up by card (${paying.paymentId})`],
      ['debit', `refund of a top-up (${paying.paymentId})`],
    ]);
  });

  test('a decision that could not be booked is booked by the next run', async (t) => {
    const books = await openBooks(t, store);
    const broken = { submit: () => Promise.reject(new Error('injected')) };
    const paying = await newTopUp(books);
    const update = paidUpdate(paying, 10);
    await assert.rejects(
      new Payments({ ...books, ledger: broken, recordBooking }).record(update),
      /injected/,
    );
    assert.equal(await balanceUsd(books, paying.accountId), 0);
    const payments = new Payments({ ...books, recordBooking });
    await payments.bookPending(books.clock.nowMs() - 60_000);
    assert.equal(
      await balanceUsd(books, paying.accountId),
      0,
      'it is not old enough to be anybody’s',
    );
    await payments.bookPending(books.clock.nowMs() + 1);
    await payments.record(update);
    assert.equal(await balanceUsd(books, paying.accountId), 10);
    const log = `select action, account_id, after from audit_log where subject = '${paying.paymentId}'`;
    assert.deepEqual(await select(books.database, log), [
      ['payment.receive', paying.accountId, '{"delta_micros":10000000}'],
    ]);
  });

  test('a payment that does not match its top-up is not credited until an operator assigns it', async (t) => {
    const books = await openBooks(t, store);
    const payments = new Payments({ ...books, recordBooking });
    const paying = await newTopUp(books);
    const other = await newTopUp(books);
    await payments.record(paidUpdate({ ...paying, topUpId: 'nobody' }, 10));
    await payments.record(paidUpdate(other, 12));
    await payments.record(paidUpdate({ ...other, paymentId: 'pi_euro' }, 10, { currency: 'eur' }));
    await payments.record(laterUpdate(paying, eventOf('charge.refunded', 1, 20)));
    const problems = await listWaiting(books);
    const named = Object.fromEntries(
      problems.map(({ id, problem, amount_micros }) => [id, [problem, amount_micros! / dollar]]),
    );
    assert.deepEqual(named, {
      [paying.paymentId]: ['unknown-account', 10],
      [other.paymentId]: ['wrong-amount', 12],
      pi_euro: ['wrong-currency', 10],
    });
    assert.equal(await balanceUsd(books, other.accountId), 0);

    const assign = { kind: 'assign', accountId: paying.accountId, note: 'paid by link' } as const;
    assert.equal((await payments.resolve(paying.paymentId, assign, unnoted))?.decision, 'assigned');
    assert.equal(
      await balanceUsd(books, paying.accountId),
      9,
      'with the refund that came meanwhile',
    );
    assert.equal(
      await payments.resolve(paying.paymentId, assign, unnoted),
      null,
      'decided already',
    );
    await payments.record(laterUpdate(paying, eventOf('charge.refunded', 3, 30)));
    assert.equal(await balanceUsd(books, paying.accountId), 7);

    assert.equal(
      await payments.resolve('pi_euro', assign, unnoted),
      null,
      'euros cannot be credited',
    );
    assert.equal(
      (await payments.resolve('pi_euro', { kind: 'dismiss', note: 'refunded by hand' }, unnoted))
        ?.decision,
      'dismissed',
    );
    assert.equal(await payments.resolve('pi_nothing', assign, unnoted), null);
    assert.equal((await verify(books.database.read, [compareBookings])).ok, true);
  });

  test('a payment through another checkout belongs to no account, whatever it refers to', async (t) => {
    const books = await openBooks(t, store);
    const payments = new Payments({ ...books, recordBooking });
    const [paying, other] = [await newTopUp(books), await newTopUp(books)];
    const own = paidUpdate(paying, 10);
    assert.ok(own.kind === 'payment' && own.checkout);
    const { metadata } = own.checkout;
    const foreign = {
      pi_link: { ...own.checkout, id: 'cs_link', metadata: { topUpId: null, accountId: null } },
      pi_same_metadata: { ...own.checkout, id: 'cs_other' },
      pi_no_metadata: { ...own.checkout, metadata: { topUpId: null, accountId: null } },
      pi_other_account: { ...own.checkout, metadata: { ...metadata, accountId: other.accountId } },
      pi_other_top_up: { ...own.checkout, metadata: { ...metadata, topUpId: other.topUpId } },
      pi_other_reference: { ...own.checkout, reference: other.topUpId },
    };
    for (const [paymentId, checkout] of Object.entries(foreign)) {
      await payments.record({
        ...paidUpdate({ ...paying, paymentId }, 10),
        kind: 'payment',
        paymentId,
        checkout,
      } as PaymentUpdate);
    }
    for (const state of ['failed', 'expired', 'processing'] as const) {
      await payments.record({
        kind: 'top-up',
        topUpId: paying.topUpId,
        checkoutId: 'cs_link',
        state,
      });
    }
    const problems = await listWaiting(books);
    assert.deepEqual(
      new Map(problems.map(({ id, problem, account_id }) => [id, [problem, account_id]])),
      new Map(Object.keys(foreign).map((id) => [id, ['unknown-account', null]])),
    );
    assert.deepEqual(
      [await balanceUsd(books, paying.accountId), await balanceUsd(books, other.accountId)],
      [0, 0],
    );
    await payments.record(own);
    assert.equal(await balanceUsd(books, paying.accountId), 10, 'its own checkout is still taken');
  });

  const corruptions = {
    'an amount that was not booked': {
      sql: `update payment_bookings set delta_micros = 11000000`,
      problem: {
        table: 'payment_bookings',
        column: 'delta_micros',
        expected: 10 * dollar,
        found: 11 * dollar,
      },
    },
    'a booking for somebody else': {
      sql: `update payment_bookings set account_id = (select max(id) from accounts where id <> account_id)`,
      problem: { table: 'payment_bookings', column: 'account_id' },
    },
    'a booking that the ledger never heard of': {
      sql: `update payment_bookings set seq = 2`,
      problem: { table: 'payment_bookings', column: 'booked_at_ms', expected: null },
    },
    'an entry that nobody decided on': {
      sql: `delete from payment_bookings`,
      problem: {
        table: 'entries',
        column: 'id',
        expected: 'a booking of the payment',
        found: null,
      },
    },
  };
  for (const [what, { sql, problem }] of Object.entries(corruptions)) {
    test(`verify finds ${what}`, async (t) => {
      const books = await openBooks(t, store);
      const [paying] = [await newTopUp(books), await newTopUp(books)];
      await new Payments({ ...books, recordBooking }).record(paidUpdate(paying, 10));
      assert.equal((await verify(books.database.read, [compareBookings])).ok, true);
      await store.execute(books.database, sql);
      const proof = await verify(books.database.read, [compareBookings]);
      assert.ok(!proof.ok, 'nothing was found');
      assert.deepEqual({ ...proof.problem, ...problem }, proof.problem);
      assert.match(proof.problem.id, new RegExp(`${paying.paymentId}:\\d$`));
    });
  }

  test('a page of all payments is read in the order of an index, and no further', async (t) => {
    const { database } = await openBooks(t, store);
    const cursor = { createdAtMs: 5, id: 'pi' };
    const plan = await planOf(database, store, (read) => listPayments(read, { limit: 50, cursor }));
    assert.match(plan, /payments_by_time/);
    assert.doesNotMatch(plan, /temp b-tree|Sort/i);
    assert.match(plan, /\(paid_at_ms,id\)<|ROW\(paid_at_ms, id\) </);
  });

  test('a stored Stripe event cannot be changed', async (t) => {
    const books = await openBooks(t, store);
    const paying = await newTopUp(books);
    await new Payments({ ...books, recordBooking }).record(paidUpdate(paying, 10));
    for (const statement of [
      'update payment_events set amount_micros = 1',
      'delete from payment_events',
    ]) {
      await assert.rejects(store.execute(books.database, statement), /append-only/);
    }
  });
});
