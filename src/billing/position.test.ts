import assert from 'node:assert/strict';
import { test } from 'node:test';
import { micros } from '../lib/money.ts';
import { type PaymentEvent, positionOf } from './position.ts';

const paid = { amountMicros: micros(10_000_000), currency: 'usd' };
let events = 0;

/** Dollars, and seconds since some moment. */
function event(type: PaymentEvent['type'], usd: number, atS: number, more: Partial<PaymentEvent> = {}): PaymentEvent {
  const id = `evt_${(events += 1)}`;
  const objectId = type === 'charge.refunded' ? 'ch_1' : type.startsWith('charge.dispute') ? 'du_1' : 're_1';
  const times = { beganAtMs: atS * 1_000, happenedAtMs: atS * 1_000 };
  return { id, type, objectId, status: null, amountMicros: micros(usd * 1_000_000), currency: 'usd', ...times, ...more };
}

function worth(list: readonly PaymentEvent[]): number {
  const { payment, refund, dispute } = positionOf(paid, list);
  return (payment + refund + dispute) / 1_000_000;
}

test('refunds are told as sums: the newest sum counts, whenever it arrives', () => {
  const [first, second] = [event('charge.refunded', 3, 10), event('charge.refunded', 7, 20)];
  assert.equal(worth([]), 10);
  assert.equal(worth([second, first]), 3);
  assert.equal(worth([first, second, second]), 3);
});

test('a refund takes no more than was paid', () => {
  assert.equal(worth([event('charge.refunded', 11, 10)]), 0);
  assert.equal(worth([event('charge.refunded', 900, 10), event('refund.failed', 1, 20, { beganAtMs: 10_000 })]), 0);
});

test('a refund that failed is given back, once, and not when a newer sum leaves it out already', () => {
  const refunded = event('charge.refunded', 5, 10);
  const failed = event('refund.failed', 5, 30, { beganAtMs: 10_000 });
  assert.equal(worth([failed, refunded]), 10);
  assert.equal(worth([failed, event('refund.failed', 5, 31, { beganAtMs: 10_000 }), refunded]), 10);
  assert.equal(worth([refunded, failed, event('charge.refunded', 3, 40)]), 7);
  assert.equal(worth([failed]), 10, 'before the sum that counts it has come');
});

test('a refund that failed before its own sum has come takes nothing from older sums', () => {
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
  assert.equal(worth([event('charge.dispute.closed', 10, 20, { status: 'warning_closed' }), inquiry]), 10);
});

test('two disputes of one payment are counted each', () => {
  const parts = [4, 5].map((usd) =>
    event('charge.dispute.created', usd, 10, { status: 'needs_response', objectId: `du_${usd}` }),
  );
  assert.equal(worth(parts), 1);
});

test('a dispute in another currency counts for the whole payment', () => {
  assert.equal(worth([event('charge.dispute.created', 9, 10, { status: 'needs_response', currency: 'eur' })]), 0);
});
