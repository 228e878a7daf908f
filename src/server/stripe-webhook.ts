// POST /webhooks/stripe: Stripe's events. The signature over the body is the permission. A 2xx is
// sent only when everything that follows is durable, because Stripe repeats the event for days
// otherwise.
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import { readEvent } from '../domain/billing/read-event.ts';
import type { Handler, ServerContext } from './context.ts';

export const stripeWebhookPath = '/webhooks/stripe';
/** Ten times Stripe's largest events. */
export const stripeWebhookBytesMax = 512 * 1_024;

export function takeStripeEvent({
  billing: { stripe, payments, autoTopUps },
  gateway: { log },
}: ServerContext): Handler {
  return async (request, reply) => {
    if (!stripe)
      throw new ApiError(
        'not_found',
        'Stripe is not configured here. The operator sets `stripe.secret_key`.',
      );
    const signature = request.headers['stripe-signature'];
    const event =
      typeof signature === 'string' && Buffer.isBuffer(request.body)
        ? await stripe.readSigned(request.body, signature)
        : 'unsigned';
    if (event === 'unreadable')
      throw invalidRequest(
        null,
        'This is no event with its object. In Stripe, choose the payload style "snapshot" for this endpoint.',
      );
    if (event === 'unsigned')
      throw invalidRequest(
        null,
        'The signature is missing, wrong or too old. Check `stripe.webhook_secret` and the clock.',
      );
    const update = readEvent(event);
    if (update?.kind === 'card') await autoTopUps?.saveCard(update.checkoutId);
    else if (update) await payments.record(update);
    log.info(
      { stripe_event: event.id, type: event.type, is_ours: update !== null },
      'a Stripe event was handled',
    );
    return reply.send({ received: true });
  };
}
