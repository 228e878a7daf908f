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
  return {
    id,
    type,
    objectId,
    status: null,
    amountMicros: micros(Math.round(usd * 1_000_000)),
    currency: 'usd',
    ...times,
    ...more,
  };
}

function worth(list: readonly PaymentEvent[], feeUsd = 0): number {
  const { payment, refund, dispute } = positionOf(
    { ...paid, feeMicros: micros(feeUsd * 1_000_000) },
    list,
  );
  return (payment + refund + dispute) / 1_000_000;
}

test('refunds are reported as totals: the newest total counts, whenever it arrives', () => {
  const [first, second] = [event('charge.refunded', 3, 10), event('charge.refunded', 7, 20)];
  assert.equal(worth([]), 10);
  assert.equal(worth([second, first]), 3);
  assert.equal(worth([first, second, second]), 3);
});

test('a refund takes at most what was paid', () => {
  assert.equal(worth([event('charge.refunded', 11, 10)]), 0);
  assert.equal(
    worth([
      event('charge.refunded', 900, 10),
      event('refund.failed', 1, 20, { beganAtMs: 10_000 }),
    ]),
    0,
  );
});

test('a failed refund is credited again once, and not when a newer total already leaves it out', () => {
  const refunded = event('charge.refunded', 5, 10);
  const failed = event('refund.failed', 5, 30, { beganAtMs: 10_000 });
  assert.equal(worth([failed, refunded]), 10);
  assert.equal(worth([failed, event('refund.failed', 5, 31, { beganAtMs: 10_000 }), refunded]), 10);
  assert.equal(worth([refunded, failed, event('charge.refunded', 3, 40)]), 7);
  assert.equal(worth([failed]), 10, 'its total has not arrived yet');
});

test('a failed refund that is reported again after a newer total is not credited twice', () => {
  const refunded = event('charge.refunded', 5, 10);
  const failed = event('refund.failed', 5, 20, { beganAtMs: 10_000, objectId: 're_1' });
  const newer = event('charge.refunded', 5, 30);
  const again = { ...failed, id: 'evt_again', happenedAtMs: 40_000 };
  assert.equal(worth([refunded, failed, newer]), 5);
  assert.equal(worth([refunded, failed, newer, again]), 5);
  assert.equal(worth([again, newer, failed, refunded]), 5);
});

test('a failed refund whose own total has not arrived changes no older total', () => {
  const failed = event('refund.failed', 5, 30, { beganAtMs: 20_000, objectId: 're_2' });
  const before = event('charge.refunded', 2, 10);
  assert.equal(worth([before, failed]), 8);
  assert.equal(worth([before, failed, event('charge.refunded', 7, 20)]), 8);
});

test('a dispute takes the money until it is won; an inquiry takes none', () => {
  const open = event('charge.dispute.created', 10, 10, { status: 'needs_response' });
  const taken = event('charge.dispute.funds_withdrawn', 10, 10, { status: 'needs_response' });
  const lost = event('charge.dispute.closed', 10, 50, { status: 'lost' });
  const won = event('charge.dispute.closed', 10, 50, { status: 'won' });
  const back = event('charge.dispute.funds_reinstated', 10, 50, { status: 'won' });
  assert.equal(worth([open]), 0);
  assert.equal(worth([taken, open]), 0);
  assert.equal(worth([lost, taken]), 0);
  assert.equal(worth([won, open, taken]), 10);
  assert.equal(worth([back, taken]), 10);
  const inquiry = event('charge.dispute.created', 10, 10, { status: 'warning_needs_response' });
  assert.equal(worth([inquiry]), 10);
  assert.equal(worth([taken, inquiry]), 0, 'it became a dispute in the same second');
  assert.equal(
    worth([event('charge.dispute.closed', 10, 20, { status: 'warning_closed' }), inquiry]),
    10,
  );
});

test('two disputes of one payment both count', () => {
  const parts = [4, 5].map((usd) =>
    event('charge.dispute.created', usd, 10, { status: 'needs_response', objectId: `du_${usd}` }),
  );
  assert.equal(worth(parts), 1);
});

test('a dispute in another currency counts for the whole payment', () => {
  assert.equal(
    worth([event('charge.dispute.created', 9, 10, { status: 'needs_response', currency: 'eur' })]),
    0,
  );
});

test('a card fee is not credited; refunds take the credit first and the fee last', () => {
  const refunded = (usd: number) => event('charge.refunded', usd, 10);
  const disputed = (usd: number) =>
    event('charge.dispute.created', usd, 20, { status: 'needs_response' });
  assert.equal(worth([], 1), 9);
  assert.equal(worth([refunded(4)], 1), 5);
  assert.equal(worth([refunded(9.5)], 1), 0);
  assert.equal(worth([refunded(10)], 1), 0);
  assert.equal(
    worth([disputed(10)], 1),
    0,
    'a bank takes the fee back as well, which was never credited',
  );
  assert.equal(worth([refunded(4), disputed(6)], 1), 0);
  assert.equal(
    worth([refunded(10), disputed(10)], 1),
    -10,
    'only what was taken back twice is owed',
  );
  assert.equal(
    worth(
      [event('charge.dispute.created', 3, 20, { status: 'needs_response', currency: 'eur' })],
      1,
    ),
    0,
  );
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
        ...refunds.map((amount, index) => event('charge.refunded', amount / 100, index)),
        ...disputes.map((amount, index) =>
          event('charge.dispute.created', amount / 100, 50, {
            status: 'needs_response',
            objectId: `du_${index}`,
          }),
        ),
      ];
      const [amountMicros, feeMicros] = [micros(paidCents * 10_000), micros(feeCents * 10_000)];
      const position = positionOf({ amountMicros, feeMicros, currency: 'usd' }, list);
      const worthCents = (position.payment + position.refund + position.dispute) / 10_000;
      const backCents =
        Math.min(refunds.at(-1) ?? 0, paidCents) +
        disputes.reduce((sum, amount) => sum + amount, 0);
      assert.equal(position.payment, creditCents * 10_000);
      assert.ok(position.refund <= 0 && position.dispute <= 0);
      assert.ok(
        worthCents <= Math.max(paidCents - backCents, creditCents - backCents),
        'no credit without its money',
      );
      assert.ok(worthCents <= creditCents);
      assert.equal(
        worthCents < 0,
        backCents > paidCents,
        'below zero only by what went back twice',
      );
      if (worthCents < 0) assert.equal(worthCents, paidCents - backCents);
      if (backCents <= creditCents)
        assert.equal(worthCents, creditCents - backCents, 'a partial refund is credit');
      if (feeCents === 0)
        assert.equal(
          worthCents,
          creditCents - backCents,
          'without a fee, every returned cent is a debit',
        );
    }),
  );
});
