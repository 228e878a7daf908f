// Converts a Stripe event into a payment update. It reads only fields that are the same in all of
// Stripe's API versions of recent years.
import type { Stripe } from 'stripe';
import { microsPerCent, type Micros, micros } from '../../lib/money.ts';
import type { PaymentEvent } from './position.ts';

export type PaymentUpdate =
  | {
      readonly kind: 'payment';
      /** Stripe's id of the payment intent. */
      readonly paymentId: string;
      readonly event: PaymentEvent;
      /**
       * Set for a paid checkout; null when the event is about a payment that must be known already.
       */
      readonly checkout: PaidCheckout | null;
    }
  /** A checkout that is not paid. */
  | {
      readonly kind: 'top-up';
      readonly topUpId: string;
      readonly checkoutId: string;
      readonly state: 'processing' | 'failed' | 'expired';
    };

/**
 * The fields of a checkout session. `reference` proves nothing: anyone who opens a payment link can
 * set it in the URL.
 */
export type PaidCheckout = {
  readonly id: string;
  readonly reference: string | null;
  /** Set by the program that created the checkout. */
  readonly metadata: { readonly topUpId: string | null; readonly accountId: string | null };
  /** Whose saved card was charged; null: the customer paid at the checkout. */
  readonly customerId: string | null;
};

/** A card was saved at a checkout. */
type SavedCardUpdate = { readonly kind: 'card'; readonly checkoutId: string };

/** Returns null when the event does not concern us. Throws RangeError for an invalid amount. */
export function readEvent(event: Stripe.Event): PaymentUpdate | SavedCardUpdate | null {
  switch (event.type) {
    case 'payment_intent.succeeded':
      return readPaidIntent(event.data.object, event);
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return readCheckout(event, event.data.object);
    case 'checkout.session.async_payment_failed':
      return readUnpaid(event.data.object, 'failed');
    case 'checkout.session.expired':
      return readUnpaid(event.data.object, 'expired');
    case 'charge.refunded': {
      const { id, payment_intent, amount_refunded, currency, created } = event.data.object;
      return paymentUpdate(event, payment_intent, {
        type: event.type,
        objectId: id,
        cents: amount_refunded,
        currency,
        created,
      });
    }
    case 'refund.failed':
    case 'refund.updated':
    case 'charge.refund.updated': {
      const { id, payment_intent, amount, currency, created, status } = event.data.object;
      if (status !== 'failed' && status !== 'canceled') return null;
      return paymentUpdate(event, payment_intent, {
        type: 'refund.failed',
        objectId: id,
        cents: amount,
        currency,
        created,
      });
    }
    case 'charge.dispute.created':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.closed':
    case 'charge.dispute.funds_reinstated': {
      const { id, payment_intent, amount, currency, created, status } = event.data.object;
      return paymentUpdate(event, payment_intent, {
        type: event.type,
        objectId: id,
        cents: amount,
        currency,
        created,
        status,
      });
    }
    default:
      return null;
  }
}

type CheckoutEvent =
  | Stripe.CheckoutSessionCompletedEvent
  | Stripe.CheckoutSessionAsyncPaymentSucceededEvent;

/**
 * A bank transfer is completed first and paid days later. Other programs may sell things on the
 * same Stripe account; those checkouts are skipped.
 */
function readCheckout(
  event: CheckoutEvent,
  session: Stripe.Checkout.Session,
): PaymentUpdate | SavedCardUpdate | null {
  if (session.mode === 'setup') return { kind: 'card', checkoutId: session.id };
  if (session.mode !== 'payment' || session.payment_status === 'no_payment_required') return null;
  if (session.payment_status !== 'paid') return readUnpaid(session, 'processing');
  const { id, payment_intent, amount_total, currency, created } = session;
  const update = paymentUpdate(event, payment_intent ?? id, {
    type: event.type,
    objectId: id,
    cents: amount_total ?? 0,
    currency: currency ?? '',
    created,
  });
  const { account = null, top_up: topUpId = null } = session.metadata ?? {};
  const checkout = {
    id,
    reference: session.client_reference_id,
    metadata: { topUpId, accountId: account },
    customerId: null,
  };
  return update && { ...update, checkout };
}

function readUnpaid(
  session: Stripe.Checkout.Session,
  state: 'processing' | 'failed' | 'expired',
): PaymentUpdate | null {
  const { id: checkoutId, client_reference_id: topUpId } = session;
  return topUpId === null ? null : { kind: 'top-up', topUpId, checkoutId, state };
}

/**
 * Reads the payment of an automatic top-up. `source`: the event that tells of it, or the intent
 * itself. Returns null for others' payments.
 */
export function readPaidIntent(
  intent: Stripe.PaymentIntent,
  source: { readonly id: string; readonly created: number },
): PaymentUpdate | null {
  const { id, amount_received: cents, currency, created, customer, metadata } = intent;
  const { account: accountId, auto_top_up: topUpId } = metadata;
  if (topUpId === undefined || accountId === undefined || customer === null) return null;
  const type = 'payment_intent.succeeded';
  const update = paymentUpdate(source, id, { type, objectId: id, cents, currency, created });
  const customerId = typeof customer === 'string' ? customer : customer.id;
  const checkout = { id, reference: topUpId, metadata: { topUpId, accountId }, customerId };
  return update && { ...update, checkout };
}

type StripeFields = {
  readonly type: PaymentEvent['type'];
  readonly objectId: string;
  readonly cents: number;
  readonly currency: string;
  readonly created: number;
  readonly status?: string;
};

/** Returns null for a payment without an intent, which no checkout creates. */
function paymentUpdate(
  event: { readonly id: string; readonly created: number },
  payment: string | { readonly id: string } | null,
  fields: StripeFields,
) {
  if (payment === null) return null;
  const paymentEvent: PaymentEvent = {
    id: event.id,
    type: fields.type,
    objectId: fields.objectId,
    status: fields.status ?? null,
    amountMicros: microsFromCents(fields.cents),
    currency: fields.currency.toLowerCase(),
    beganAtMs: fields.created * 1_000,
    happenedAtMs: event.created * 1_000,
  };
  return {
    kind: 'payment',
    paymentId: typeof payment === 'string' ? payment : payment.id,
    event: paymentEvent,
    checkout: null,
  } as const;
}

/** Stripe counts in the smallest unit of a currency, which is cents for dollars. */
function microsFromCents(cents: number): Micros {
  return micros(cents * microsPerCent);
}
