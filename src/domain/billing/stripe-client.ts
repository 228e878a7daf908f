// Calls Stripe through its own package, which is loaded at first use.
import type { Stripe } from 'stripe';
import type { Config } from '../../config/schema.ts';
import { microsPerCent, type Micros } from '../../lib/money.ts';

type StripeSettings = NonNullable<Config['stripe']>;

type CheckoutRequest = {
  readonly topUpId: string;
  readonly accountId: string;
  readonly amountMicros: Micros;
  /** Shown on a separate line; 0: no line. */
  readonly feeMicros: Micros;
  readonly email: string;
  /** The name of the product on the checkout page. */
  readonly productName: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
};

/** Stripe's id, and the URL of the checkout page. */
export type Checkout = { readonly id: string; readonly url: string };

export type StripeClient = {
  /**
   * Creates the checkout of a top-up; repeating it returns the same one. Throws when Stripe is
   * unavailable (`isAway`) or refuses.
   */
  readonly createCheckout: (request: CheckoutRequest) => Promise<Checkout>;
  /** Returns null when the signature is wrong or older than Stripe's limit of five minutes. */
  readonly readSigned: (body: Buffer, signature: string) => Promise<Stripe.Event | null>;
};

/** Short, because a person waits for the answer. */
const timeoutMs = 15_000;

/** `server`: another one with Stripe's API, without a path; null: Stripe's own. */
export function createStripeClient(settings: StripeSettings, server: string | null): StripeClient {
  let loaded: Promise<Stripe> | null = null;
  const load = () => (loaded ??= connect(settings, server));
  return {
    createCheckout: async (request) => {
      const stripe = await load();
      const { id, url } = await stripe.checkout.sessions.create(checkoutParameters(request), {
        idempotencyKey: request.topUpId,
      });
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

/** Returns true when Stripe was unavailable and a retry may succeed. */
export function isAway(error: unknown): boolean {
  const { type, statusCode } = error as { readonly type?: string; readonly statusCode?: number };
  return (
    type === 'StripeConnectionError' ||
    type === 'StripeRateLimitError' ||
    (statusCode !== undefined && statusCode >= 500)
  );
}

async function connect({ secret_key }: StripeSettings, server: string | null): Promise<Stripe> {
  const { Stripe } = await import('stripe');
  const address = server === null ? null : new URL(server);
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

/** Charges in dollars only: the ledger knows no other currency. */
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
      lineItem(request.productName, request.amountMicros),
      ...(request.feeMicros > 0 ? [lineItem('Card fee', request.feeMicros)] : []),
    ],
    success_url: request.successUrl,
    cancel_url: request.cancelUrl,
  };
}

function lineItem(
  name: string,
  amountMicros: Micros,
): Stripe.Checkout.SessionCreateParams.LineItem {
  return {
    quantity: 1,
    price_data: {
      currency: 'usd',
      unit_amount: amountMicros / microsPerCent,
      product_data: { name },
    },
  };
}
