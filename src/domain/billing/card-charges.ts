// Reads what became of the charge of a saved card, from Stripe's answer, its error, or an event.
import type { Stripe } from 'stripe';
import type { CardProblem } from '../../terms/card-problem.ts';
import { type PaymentUpdate, readPaidIntent } from './read-event.ts';

/** A charge that Stripe has answered. `paymentId`: Stripe's id of the payment intent. */
export type ChargeAnswer =
  | { readonly kind: 'paid'; readonly paymentId: string; readonly update: PaymentUpdate }
  | { readonly kind: 'processing'; readonly paymentId: string }
  | { readonly kind: 'failed'; readonly paymentId: string | null; readonly problem: CardProblem };

/** Returns null for an intent that was made and never confirmed: it charges nothing. */
export function readCharge(intent: Stripe.PaymentIntent): ChargeAnswer | null {
  const { id: paymentId, status, last_payment_error: error } = intent;
  switch (status) {
    case 'succeeded': {
      const update = readPaidIntent(intent, intent)!;
      return { kind: 'paid', paymentId, update };
    }
    case 'requires_action':
      return { kind: 'failed', paymentId, problem: 'authentication-required' };
    case 'canceled':
      return { kind: 'failed', paymentId, problem: 'refused' };
    case 'processing':
      return { kind: 'processing', paymentId };
    default:
      return error && { kind: 'failed', paymentId, problem: problemOf(error.code) };
  }
}

/**
 * Returns null when the error leaves open whether the card was charged, or says nothing about the card:
 * an operator's wrong key is no reason to bother owners.
 */
export function readChargeError(error: unknown): ChargeAnswer | null {
  const { type, code, statusCode, payment_intent } = error as Partial<Stripe.errors.StripeError>;
  if (type === 'StripeCardError') {
    const paymentId = payment_intent?.id ?? null;
    return { kind: 'failed', paymentId, problem: problemOf(code) };
  }
  // With another status, such as 409, the same key is in use by a request that still runs.
  const isRefused = statusCode === 400 || statusCode === 404;
  if (type !== 'StripeInvalidRequestError' || !isRefused) return null;
  return { kind: 'failed', paymentId: null, problem: 'refused' };
}

function problemOf(code: string | undefined): CardProblem {
  if (code === 'authentication_required') return 'authentication-required';
  return code === 'expired_card' ? 'expired' : 'declined';
}
