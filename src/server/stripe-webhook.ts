// POST /webhooks/stripe: what Stripe says of payments. The signature over the body is the permission. Answered with a 2xx only when
// everything that follows is durable: Stripe sends anything else again, for days.
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import { readEvent } from '../billing/read-event.ts';
import type { Handler, ServerContext } from './context.ts';

export const stripeWebhookPath = '/webhooks/stripe';
/** The largest of Stripe's events are a tenth of it. */
export const stripeWebhookBytesMax = 512 * 1_024;

export function takeStripeEvent({ billing: { stripe, payments }, gateway: { log } }: ServerContext): Handler {
  return async (request, reply) => {
    if (!stripe) throw new ApiError('not_found', 'Stripe is not configured here. The operator sets `stripe.secret_key`.');
    const signature = request.headers['stripe-signature'];
    const event =
      typeof signature === 'string' && Buffer.isBuffer(request.body) ? await stripe.readSigned(request.body, signature) : null;
    if (!event)
      throw invalidRequest(null, 'The signature is missing, wrong or too old. Check `stripe.webhook_secret` and the clock.');
    const news = readEvent(event);
    if (news) await payments.take(news);
    log.info({ stripe_event: event.id, type: event.type, is_ours: news !== null }, 'an event of Stripe was taken');
    return reply.send({ received: true });
  };
}
