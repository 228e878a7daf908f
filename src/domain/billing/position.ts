// Computes what a payment is worth from all of Stripe's events about it. A pure function of a set:
// repeated, late or reordered events give the same result. Stripe promises no order.
// https://docs.stripe.com/webhooks#event-ordering
import type { Tables } from '../../db/schema.ts';
import { type Micros, micros } from '../../lib/money.ts';
import type { CamelCase } from '../../lib/snake-case.ts';

type EventColumns = Omit<Tables['payment_events'], 'payment_id' | 'type' | 'received_at_ms'>;
/**
 * `id`: Stripe's id of the event; of the intent, when Stripe's answer to a charge says that it is paid.
 * `amountMicros` of `charge.refunded` is the total refunded so far. The currency is in lower case.
 */
export type PaymentEvent = CamelCase<EventColumns> & { readonly type: PaymentEventType };

/** In the order of a dispute's life, which decides between events of the same second. */
const paymentEventTypes = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'payment_intent.succeeded',
  'charge.refunded',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.closed',
  'charge.dispute.funds_reinstated',
] as const;
type PaymentEventType = (typeof paymentEventTypes)[number];

export type Part = 'payment' | 'refund' | 'dispute';

/**
 * The credit to the account for each part; negated for a debit. Their sum is the payment's worth.
 */
type Position = Readonly<Record<Part, Micros>>;

/**
 * Returns the credit for each part. `paid`: the paid amount, already matched to the account.
 * `feeMicros` of it is the card fee, which is not credited. Stripe's refunds and disputes cover
 * both together. Returned money is taken from the credit first and from the fee last. So nobody
 * keeps credit after getting the money back, and a full refund leaves neither credit nor debt.
 */
export function positionOf(
  paid: { readonly amountMicros: Micros; readonly feeMicros: Micros; readonly currency: string },
  events: readonly PaymentEvent[],
): Position {
  // A bank may dispute in its customer's currency, whose amount we cannot convert. Then the whole
  // payment counts as disputed.
  const inCurrency = (event: PaymentEvent): PaymentEvent =>
    event.currency === paid.currency ? event : { ...event, amountMicros: paid.amountMicros };
  const known = events.map(inCurrency);
  const refunded = refundedMicros(known, paid.amountMicros);
  const afterRefunds = debitOf(refunded, paid);
  return {
    payment: micros(paid.amountMicros - paid.feeMicros),
    refund: negated(afterRefunds),
    dispute: negated(debitOf(refunded + disputedMicros(known), paid) - afterRefunds),
  };
}

/**
 * Returns the debit for an amount that went back: all of it up to the credit, then nothing while it
 * is the fee. Only disputes can take back more than was paid.
 */
function debitOf(
  backMicros: number,
  { amountMicros, feeMicros }: { readonly amountMicros: Micros; readonly feeMicros: Micros },
): number {
  const creditMicros = amountMicros - feeMicros;
  return backMicros <= creditMicros ? backMicros : Math.max(creditMicros, backMicros - feeMicros);
}

/**
 * Returns the newest total that Stripe reported, without refunds that failed later; at most the
 * paid amount.
 */
function refundedMicros(events: readonly PaymentEvent[], paidMicros: Micros): number {
  const sums = events.filter(({ type }) => type === 'charge.refunded');
  const newest = sums
    .toSorted(
      (one, other) =>
        one.happenedAtMs - other.happenedAtMs || one.amountMicros - other.amountMicros,
    )
    .at(-1);
  if (!newest) return 0;
  // A refund fails once; Stripe may report it again with later changes of its other fields.
  const failed = oneOfEach(
    events.filter(({ type }) => type === 'refund.failed'),
    isEarlier,
  );
  const missing = failed.filter(
    (refund) =>
      refund.beganAtMs <= newest.happenedAtMs && newest.happenedAtMs <= refund.happenedAtMs,
  );
  return Math.min(Math.max(0, newest.amountMicros - sumOf(missing)), paidMicros);
}

function disputedMicros(events: readonly PaymentEvent[]): number {
  const disputes = oneOfEach(
    events.filter(({ type }) => type.startsWith('charge.dispute.')),
    isLater,
  );
  return sumOf(disputes.filter(isWithdrawn));
}

/**
 * Returns true when the bank has the money. An inquiry (`warning_…`) takes none, and a won dispute
 * returns it.
 */
function isWithdrawn({ type, status }: PaymentEvent): boolean {
  switch (type) {
    case 'charge.dispute.funds_withdrawn':
      return true;
    case 'charge.dispute.funds_reinstated':
      return false;
    default:
      return !(status === 'won' || status === 'prevented' || status?.startsWith('warning_'));
  }
}

/** Returns the event of each object that `isPreferred` to all its others. */
function oneOfEach(
  events: readonly PaymentEvent[],
  isPreferred: (one: PaymentEvent, other: PaymentEvent) => boolean,
): PaymentEvent[] {
  const chosen = new Map<string, PaymentEvent>();
  for (const event of events) {
    const known = chosen.get(event.objectId);
    if (!known || isPreferred(event, known)) chosen.set(event.objectId, event);
  }
  return [...chosen.values()];
}

function isEarlier(one: PaymentEvent, other: PaymentEvent): boolean {
  return isLater(other, one);
}

/** Stripe's times are whole seconds, so the type and the id break ties. */
function isLater(one: PaymentEvent, other: PaymentEvent): boolean {
  const rank = ({ type }: PaymentEvent) => paymentEventTypes.indexOf(type);
  const difference = one.happenedAtMs - other.happenedAtMs || rank(one) - rank(other);
  return difference === 0 ? one.id > other.id : difference > 0;
}

function sumOf(events: readonly PaymentEvent[]): number {
  return events.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
}

/** Negates without making −0. */
function negated(value: number): Micros {
  return micros(0 - value);
}
