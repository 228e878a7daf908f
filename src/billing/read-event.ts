// From an event as Stripe sends it to what it means here. The few fields read are the same in all of Stripe's API versions of the last years.
import type { Stripe } from 'stripe';
import { microsPerCent, type Micros, micros } from '../lib/money.ts';
import type { PaymentEvent } from './position.ts';

export type PaymentNews =
  | {
      readonly kind: 'payment';
      /** Stripe's id of the payment intent. */
      readonly paymentId: string;
      readonly event: PaymentEvent;
      /** Of a checkout that was paid; null: it is about a payment that we must know otherwise. */
      readonly checkout: PaidCheckout | null;
    }
  /** Of a checkout that is not paid. */
  | {
      readonly kind: 'top-up';
      readonly topUpId: string;
      readonly checkoutId: string;
      readonly state: 'processing' | 'failed' | 'expired';
    };

/** The fields of a checkout session. Its reference proves nothing: whoever opens a payment link can set it in the address. */
export type PaidCheckout = {
  readonly id: string;
  readonly reference: string | null;
  /** As whoever made the checkout wrote it. */
  readonly metadata: { readonly topUpId: string | null; readonly accountId: string | null };
};

/** null: nothing that concerns us. Throws RangeError when an amount is none. */
export function readEvent(event: Stripe.Event): PaymentNews | null {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return readCheckout(event, event.data.object);
    case 'checkout.session.async_payment_failed':
      return readUnpaid(event.data.object, 'failed');
    case 'checkout.session.expired':
      return readUnpaid(event.data.object, 'expired');
    case 'charge.refunded': {
      const { id, payment_intent, amount_refunded, currency, created } = event.data.object;
      return about(event, payment_intent, { type: event.type, objectId: id, cents: amount_refunded, currency, created });
    }
    case 'refund.failed':
    case 'refund.updated':
    case 'charge.refund.updated': {
      const { id, payment_intent, amount, currency, created, status } = event.data.object;
      if (status !== 'failed' && status !== 'canceled') return null;
      return about(event, payment_intent, { type: 'refund.failed', objectId: id, cents: amount, currency, created });
    }
    case 'charge.dispute.created':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.closed':
    case 'charge.dispute.funds_reinstated': {
      const { id, payment_intent, amount, currency, created, status } = event.data.object;
      return about(event, payment_intent, { type: event.type, objectId: id, cents: amount, currency, created, status });
    }
    default:
      return null;
  }
}

type CheckoutEvent = Stripe.CheckoutSessionCompletedEvent | Stripe.CheckoutSessionAsyncPaymentSucceededEvent;

/** A bank transfer is completed first and paid days later. Other things than payments are sold by other programs on the same account. */
function readCheckout(event: CheckoutEvent, session: Stripe.Checkout.Session): PaymentNews | null {
  if (session.mode !== 'payment' || session.payment_status === 'no_payment_required') return null;
  if (session.payment_status !== 'paid') return readUnpaid(session, 'processing');
  const { id, payment_intent, amount_total, currency, created } = session;
  const news = about(event, payment_intent ?? id, {
    type: event.type,
    objectId: id,
    cents: amount_total ?? 0,
    currency: currency ?? '',
    created,
  });
  const { account = null, top_up: topUpId = null } = session.metadata ?? {};
  const checkout = { id, reference: session.client_reference_id, metadata: { topUpId, accountId: account } };
  return news && { ...news, checkout };
}

function readUnpaid(session: Stripe.Checkout.Session, state: 'processing' | 'failed' | 'expired'): PaymentNews | null {
  const { id: checkoutId, client_reference_id: topUpId } = session;
  return topUpId === null ? null : { kind: 'top-up', topUpId, checkoutId, state };
}

type Told = {
  readonly type: PaymentEvent['type'];
  readonly objectId: string;
  readonly cents: number;
  readonly currency: string;
  readonly created: number;
  readonly status?: string;
};

/** null: it is about a payment without an intent, which no checkout makes. */
function about(event: Stripe.Event, payment: string | { readonly id: string } | null, told: Told) {
  if (payment === null) return null;
  const paymentEvent: PaymentEvent = {
    id: event.id,
    type: told.type,
    objectId: told.objectId,
    status: told.status ?? null,
    amountMicros: microsFromCents(told.cents),
    currency: told.currency.toLowerCase(),
    beganAtMs: told.created * 1_000,
    happenedAtMs: event.created * 1_000,
  };
  return {
    kind: 'payment',
    paymentId: typeof payment === 'string' ? payment : payment.id,
    event: paymentEvent,
    checkout: null,
  } as const;
}

/** Stripe counts in the smallest unit of a currency; of ours, cents. */
function microsFromCents(cents: number): Micros {
  return micros(cents * microsPerCent);
}
