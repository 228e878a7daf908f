// What a payment comes to, from everything that Stripe has said of it. A pure function of a set: events that come twice, late or in any
// order lead to the same. Stripe promises no order. https://docs.stripe.com/webhooks#event-ordering
import { type Micros, micros } from '../lib/money.ts';

export type PaymentEvent = {
  /** Stripe's. */
  readonly id: string;
  readonly type: PaymentEventType;
  /** The checkout, charge, refund or dispute that it is about. */
  readonly objectId: string;
  /** Of a dispute: its status. */
  readonly status: string | null;
  /** Of a `charge.refunded`: everything refunded by then. */
  readonly amountMicros: Micros;
  /** Lower case: `usd`. */
  readonly currency: string;
  /** When the object was made at Stripe. */
  readonly beganAtMs: number;
  /** When Stripe says it. */
  readonly happenedAtMs: number;
};

/** In the order of a dispute's life, which decides between two of one second. */
const paymentEventTypes = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'charge.refunded',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.closed',
  'charge.dispute.funds_reinstated',
] as const;
type PaymentEventType = (typeof paymentEventTypes)[number];

export type Part = 'payment' | 'refund' | 'dispute';

/** What the account is credited with by each part; below 0: debited. Their sum is what the payment is worth to it. */
export type Position = Readonly<Record<Part, Micros>>;

/** `paid`: what was paid in, already found to be the account's. */
export function positionOf(
  paid: { readonly amountMicros: Micros; readonly currency: string },
  events: readonly PaymentEvent[],
): Position {
  // A bank may dispute in its customer's currency, which says nothing about ours: then all of it is.
  const inCurrency = (event: PaymentEvent): PaymentEvent =>
    event.currency === paid.currency ? event : { ...event, amountMicros: paid.amountMicros };
  const known = events.map(inCurrency);
  return {
    payment: paid.amountMicros,
    refund: negative(refundedMicros(known, paid.amountMicros)),
    dispute: negative(disputedMicros(known)),
  };
}

/** The newest sum that Stripe gave, without refunds that failed after it was given; no more than was paid. */
function refundedMicros(events: readonly PaymentEvent[], paidMicros: Micros): number {
  const sums = events.filter(({ type }) => type === 'charge.refunded');
  const newest = sums
    .toSorted((one, other) => one.happenedAtMs - other.happenedAtMs || one.amountMicros - other.amountMicros)
    .at(-1);
  if (!newest) return 0;
  const failed = latestOfEach(events.filter(({ type }) => type === 'refund.failed'));
  const missing = failed.filter(
    (refund) => refund.beganAtMs <= newest.happenedAtMs && newest.happenedAtMs <= refund.happenedAtMs,
  );
  return Math.min(Math.max(0, newest.amountMicros - sumOf(missing)), paidMicros);
}

function disputedMicros(events: readonly PaymentEvent[]): number {
  const disputes = latestOfEach(events.filter(({ type }) => type.startsWith('charge.dispute.')));
  return sumOf(disputes.filter(isTaken));
}

/** Whether the bank has the money: an inquiry (`warning_…`) takes none, and what was won comes back. */
function isTaken({ type, status }: PaymentEvent): boolean {
  switch (type) {
    case 'charge.dispute.funds_withdrawn':
      return true;
    case 'charge.dispute.funds_reinstated':
      return false;
    default:
      return !(status === 'won' || status === 'prevented' || status?.startsWith('warning_'));
  }
}

/** The last thing said of each object. */
function latestOfEach(events: readonly PaymentEvent[]): PaymentEvent[] {
  const latest = new Map<string, PaymentEvent>();
  for (const event of events) {
    const known = latest.get(event.objectId);
    if (!known || isLater(event, known)) latest.set(event.objectId, event);
  }
  return [...latest.values()];
}

/** Times are whole seconds. */
function isLater(one: PaymentEvent, other: PaymentEvent): boolean {
  const rank = ({ type }: PaymentEvent) => paymentEventTypes.indexOf(type);
  const difference = one.happenedAtMs - other.happenedAtMs || rank(one) - rank(other);
  return difference === 0 ? one.id > other.id : difference > 0;
}

function sumOf(events: readonly PaymentEvent[]): number {
  return events.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
}

/** Without −0. */
function negative(value: number): Micros {
  return micros(0 - value);
}
