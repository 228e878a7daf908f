// Stripe through its own package, which is loaded when it is first needed.
import type { Stripe } from 'stripe';
import type { Config } from '../config/schema.ts';
import { microsPerCent, type Micros } from '../lib/money.ts';

type StripeSettings = NonNullable<Config['stripe']>;

type CheckoutRequest = {
  readonly topUpId: string;
  readonly accountId: string;
  readonly amountMicros: Micros;
  readonly email: string;
  /** As the customer sees what he buys. */
  readonly productName: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
};

/** Stripe's id, and the address where it is paid. */
export type Checkout = { readonly id: string; readonly url: string };

export type StripeClient = {
  /**
   * The checkout where the top-up is paid; the same one for the same top-up. Throws when Stripe cannot be reached (`isAway`) or refuses.
   */
  readonly createCheckout: (request: CheckoutRequest) => Promise<Checkout>;
  /** null: the signature is wrong, or older than Stripe's own bound of five minutes. */
  readonly readSigned: (body: Buffer, signature: string) => Promise<Stripe.Event | null>;
};

/** A person waits for it. */
const timeoutMs = 15_000;

export function createStripeClient(settings: StripeSettings): StripeClient {
  let loaded: Promise<Stripe> | null = null;
  const load = () => (loaded ??= connect(settings));
  return {
    createCheckout: async (request) => {
      const stripe = await load();
      const { id, url } = await stripe.checkout.sessions.create(checkoutParameters(request), { idempotencyKey: request.topUpId });
      if (url === null) throw new Error('Stripe made a checkout without an address');
      return { id, url };
    },
    readSigned: async (body, signature) => {
      const { webhooks, errors } = await load();
      try {
        return webhooks.constructEvent(body, signature, settings.webhook_secret);
      } catch (error) {
        if (error instanceof errors.StripeSignatureVerificationError) return null;
        throw error;
      }
    },
  };
}

/** Whether Stripe was away, and may be asked again. */
export function isAway(error: unknown): boolean {
  const { type, statusCode } = error as { readonly type?: string; readonly statusCode?: number };
  return type === 'StripeConnectionError' || type === 'StripeRateLimitError' || (statusCode !== undefined && statusCode >= 500);
}

async function connect({ secret_key, api_url }: StripeSettings): Promise<Stripe> {
  const { Stripe } = await import('stripe');
  const address = api_url === null ? null : new URL(api_url);
  return new Stripe(secret_key, {
    timeout: timeoutMs,
    maxNetworkRetries: 2,
    telemetry: false,
    ...(address && {
      protocol: address.protocol === 'http:' ? 'http' : 'https',
      host: address.hostname,
      port: address.port || (address.protocol === 'http:' ? 80 : 443),
    }),
  });
}

/** The price stays in dollars: nobody is charged in a currency that the books do not know. */
function checkoutParameters(request: CheckoutRequest): Stripe.Checkout.SessionCreateParams {
  const metadata = { account: request.accountId, top_up: request.topUpId };
  return {
    mode: 'payment',
    client_reference_id: request.topUpId,
    metadata,
    payment_intent_data: { metadata },
    customer_email: request.email,
    adaptive_pricing: { enabled: false },
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: 'usd',
          unit_amount: request.amountMicros / microsPerCent,
          product_data: { name: request.productName },
        },
      },
    ],
    success_url: request.successUrl,
    cancel_url: request.cancelUrl,
  };
}
