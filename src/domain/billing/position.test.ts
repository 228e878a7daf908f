import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../../tests/support/property.ts';
import { micros, zeroMicros } from '../../lib/money.ts';
import { type PaymentEvent, positionOf } from './position.ts';

const paid = { amountMicros: micros(10_000_000), feeMicros: zeroMicros, currency: 'usd' };
let events = 0;

/** Amounts in dollars, times in seconds. */
function event(
  type: PaymentEvent['type'],
  usd: number,
  atS: number,
  more: Partial<PaymentEvent> = {},
): PaymentEvent {
  const id = `evt_${(events += 1)}`;
  const objectId =
    type === 'charge.refunded' ? 'ch_1' : type.startsWith('charge.dispute') ? 'du_1' : 're_1';
  const times = { beganAtMs: atS * 1_000, happenedAtMs: atS * 1_000 };
  const amountMicros = micros(Math.round(usd * 1_000_000));
  return { id, type, objectId, status: null, amountMicros, currency: 'usd', ...times, ...more };
}
const refunded = (usd: number, atS: number) => event('charge.refunded', usd, atS);
const disputed = (usd: number, atS: number, more: Partial<PaymentEvent> = {}) =>
  event('charge.dispute.created', usd, atS, { status: 'needs_response', ...more });

function worth(list: readonly PaymentEvent[], feeUsd = 0): number {
  const feeMicros = micros(feeUsd * 1_000_000);
  const { payment, refund, dispute } = positionOf({ ...paid, feeMicros }, list);
  return (payment + refund + dispute) / 1_000_000;
}

test('refunds are reported as totals: the newest total counts, whenever it arrives', () => {
  const [first, second] = [refunded(3, 10), refunded(7, 20)];
  assert.equal(worth([]), 10);
  assert.equal(worth([second, first]), 3);
  assert.equal(worth([first, second, second]), 3);
});

test('a refund takes at most what was paid', () => {
  assert.equal(worth([refunded(11, 10)]), 0);
  const failed = event('refund.failed', 1, 20, { beganAtMs: 10_000 });
  assert.equal(worth([refunded(900, 10), failed]), 0);
});

test('a failed refund is credited again once, and not when a newer total already leaves it out', () => {
  const total = refunded(5, 10);
  const failed = event('refund.failed', 5, 30, { beganAtMs: 10_000 });
  assert.equal(worth([failed, total]), 10);
  assert.equal(worth([failed, event('refund.failed', 5, 31, { beganAtMs: 10_000 }), total]), 10);
  assert.equal(worth([total, failed, refunded(3, 40)]), 7);
  assert.equal(worth([failed]), 10, 'its total has not arrived yet');
});

test('a failed refund that is reported again after a newer total is not credited twice', () => {
  const total = refunded(5, 10);
  const failed = event('refund.failed', 5, 20, { beganAtMs: 10_000, objectId: 're_1' });
  const newer = refunded(5, 30);
  const again = { ...failed, id: 'evt_again', happenedAtMs: 40_000 };
  assert.equal(worth([total, failed, newer]), 5);
  assert.equal(worth([total, failed, newer, again]), 5);
  assert.equal(worth([again, newer, failed, total]), 5);
});

test('a failed refund whose own total has not arrived changes no older total', () => {
  const failed = event('refund.failed', 5, 30, { beganAtMs: 20_000, objectId: 're_2' });
  const before = refunded(2, 10);
  assert.equal(worth([before, failed]), 8);
  assert.equal(worth([before, failed, refunded(7, 20)]), 8);
});

test('a dispute takes the money until it is won; an inquiry takes none', () => {
  const open = disputed(10, 10);
  const taken = event('charge.dispute.funds_withdrawn', 10, 10, { status: 'needs_response' });
  const lost = event('charge.dispute.closed', 10, 50, { status: 'lost' });
  const won = event('charge.dispute.closed', 10, 50, { status: 'won' });
  const back = event('charge.dispute.funds_reinstated', 10, 50, { status: 'won' });
  assert.equal(worth([open]), 0);
  assert.equal(worth([taken, open]), 0);
  assert.equal(worth([lost, taken]), 0);
  assert.equal(worth([won, open, taken]), 10);
  assert.equal(worth([back, taken]), 10);
  const inquiry = disputed(10, 10, { status: 'warning_needs_response' });
  assert.equal(worth([inquiry]), 10);
  assert.equal(worth([taken, inquiry]), 0, 'it became a dispute in the same second');
  const closed = event('charge.dispute.closed', 10, 20, { status: 'warning_closed' });
  assert.equal(worth([closed, inquiry]), 10);
});

test('two disputes of one payment both count', () => {
  assert.equal(worth([4, 5].map((usd) => disputed(usd, 10, { objectId: `du_${usd}` }))), 1);
});

test('a dispute in another currency counts for the whole payment', () => {
  assert.equal(worth([disputed(9, 10, { currency: 'eur' })]), 0);
});

test('a card fee is not credited; refunds take the credit first and the fee last', () => {
  assert.equal(worth([], 1), 9);
  assert.equal(worth([refunded(4, 10)], 1), 5);
  assert.equal(worth([refunded(9.5, 10)], 1), 0);
  assert.equal(worth([refunded(10, 10)], 1), 0);
  // A bank takes the fee back as well, which was never credited.
  assert.equal(worth([disputed(10, 20)], 1), 0);
  assert.equal(worth([refunded(4, 10), disputed(6, 20)], 1), 0);
  // Only what was taken back twice is owed.
  assert.equal(worth([refunded(10, 10), disputed(10, 20)], 1), -10);
  assert.equal(worth([disputed(3, 20, { currency: 'eur' })], 1), 0);
});

test('credit never exceeds the remaining money, and only money returned twice is owed', () => {
  const cents = (max: number) => fc.integer({ min: 0, max });
  const history = fc.record({
    creditCents: cents(100_000),
    feeCents: cents(5_000),
    refunds: fc.array(cents(120_000), { maxLength: 4 }),
    disputes: fc.array(cents(120_000), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(history, ({ creditCents, feeCents, refunds, disputes }) => {
      const paidCents = creditCents + feeCents;
      const list = [
        ...refunds.map((amount, index) => refunded(amount / 100, index)),
        ...disputes.map((amount, index) => disputed(amount / 100, 50, { objectId: `du_${index}` })),
      ];
      const [amountMicros, feeMicros] = [micros(paidCents * 10_000), micros(feeCents * 10_000)];
      const position = positionOf({ amountMicros, feeMicros, currency: 'usd' }, list);
      const worthCents = (position.payment + position.refund + position.dispute) / 10_000;
      const backCents =
        Math.min(refunds.at(-1) ?? 0, paidCents) +
        disputes.reduce((sum, amount) => sum + amount, 0);
      assert.equal(position.payment, creditCents * 10_000);
      assert.ok(position.refund <= 0 && position.dispute <= 0);
      // No credit without its money.
      assert.ok(worthCents <= Math.max(paidCents - backCents, creditCents - backCents));
      assert.ok(worthCents <= creditCents);
      // Below zero only by what went back twice.
      assert.equal(worthCents < 0, backCents > paidCents);
      if (worthCents < 0) assert.equal(worthCents, paidCents - backCents);
      // A partial refund is credit, and without a fee every returned cent is a debit.
      if (backCents <= creditCents || feeCents === 0)
        assert.equal(worthCents, creditCents - backCents);
    }),
  );
});
