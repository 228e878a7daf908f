// Calls Stripe through its own package, which is loaded at first use.
import type { Stripe } from 'stripe';
import type { Config } from '../../config/schema.ts';
import { microsPerCent, type Micros } from '../../lib/money.ts';
import { type ChargeAnswer, readCharge, readChargeError } from './card-charges.ts';

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

type CardCheckoutRequest = Pick<
  CheckoutRequest,
  'accountId' | 'email' | 'successUrl' | 'cancelUrl'
> & {
  /** Whose card it replaces; null: the account has saved none yet. */
  readonly customerId: string | null;
};

/** Stripe's ids of a saved card and of its customer, and how owners recognize it. */
export type SavedCard = {
  readonly customerId: string;
  readonly cardId: string;
  readonly brand: string;
  readonly last4: string;
};

type CardCharge = {
  readonly id: string;
  readonly account_id: string;
  readonly amount_micros: Micros;
  readonly fee_micros: Micros;
  readonly customer_id: string;
  readonly card_id: string;
  readonly checkout_id: string | null;
};

export type StripeClient = {
  /**
   * Creates the checkout of a top-up; repeating it returns the same one. Throws when Stripe is
   * unavailable (`isAway`) or refuses.
   */
  readonly createCheckout: (request: CheckoutRequest) => Promise<Checkout>;
  /** Creates a checkout in which a card is saved and nothing is paid. Throws like `createCheckout`. */
  readonly createCardCheckout: (request: CardCheckoutRequest) => Promise<Checkout>;
  readonly readSavedCard: (checkoutId: string) => Promise<SavedCard>;
  readonly forgetCard: (cardId: string) => Promise<void>;
  /**
   * Charges a saved card, once however often it is called. Throws, or returns null, when it is unknown
   * whether the card was charged.
   */
  readonly charge: (charge: CardCharge) => Promise<ChargeAnswer | null>;
  /** Returns what became of a charge, without charging; null when Stripe knows of none. */
  readonly findCharge: (charge: CardCharge) => Promise<ChargeAnswer | null>;
  /**
   * Returns `unsigned` when the signature is wrong or older than Stripe's limit of five minutes, and
   * `unreadable` for what has no object in it, such as a thin event.
   */
  readonly readSigned: (
    body: Buffer,
    signature: string,
  ) => Promise<Stripe.Event | 'unsigned' | 'unreadable'>;
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
      const parameters = checkoutParameters(request);
      return withAddress(
        await stripe.checkout.sessions.create(parameters, { idempotencyKey: request.topUpId }),
      );
    },
    createCardCheckout: async ({ accountId, email, customerId, ...urls }) => {
      const { checkout } = await load();
      const create = (customer: Stripe.Checkout.SessionCreateParams) =>
        checkout.sessions.create({
          mode: 'setup',
          allowed_payment_method_types: ['card'],
          metadata: { account: accountId },
          ...customer,
          success_url: urls.successUrl,
          cancel_url: urls.cancelUrl,
        });
      const known =
        customerId === null ? null : await unlessMissing(() => create({ customer: customerId }));
      return withAddress(
        known ?? (await create({ customer_creation: 'always', customer_email: email })),
      );
    },
    readSavedCard: async (checkoutId) => {
      const stripe = await load();
      const expand = ['setup_intent.payment_method'];
      const { customer, setup_intent } = await stripe.checkout.sessions.retrieve(checkoutId, {
        expand,
      });
      const { payment_method: method } = setup_intent as Stripe.SetupIntent;
      const { id: cardId, card } = method as Stripe.PaymentMethod;
      const customerId = idOf(customer);
      if (customerId === null || !card) throw new Error('Stripe saved no card at the checkout');
      return { customerId, cardId, brand: card.brand, last4: card.last4 };
    },
    forgetCard: async (cardId) => {
      await (await load()).paymentMethods.detach(cardId);
    },
    charge: async (charge) => {
      const stripe = await load();
      // Not repeated here: who calls asks first what became of it.
      const options = { idempotencyKey: charge.id, maxNetworkRetries: 0 };
      try {
        return readCharge(await stripe.paymentIntents.create(chargeParameters(charge), options));
      } catch (error) {
        const answer = readChargeError(error);
        if (answer) return answer;
        throw error;
      }
    },
    findCharge: async ({ id, customer_id: customer, checkout_id }) => {
      const { paymentIntents } = await load();
      if (checkout_id !== null)
        return unlessMissing(async () => readCharge(await paymentIntents.retrieve(checkout_id)));
      // Newest first. The search of Stripe would miss what happened in the last minutes.
      const made = await unlessMissing(() => paymentIntents.list({ customer, limit: 100 }));
      const found = made?.data.find(({ metadata }) => metadata['auto_top_up'] === id);
      return found ? readCharge(found) : null;
    },
    readSigned: async (body, signature) => {
      const { webhooks, errors } = await load();
      try {
        return webhooks.constructEvent(body, signature, settings.webhook_secret);
      } catch (error) {
        return error instanceof errors.StripeSignatureVerificationError ? 'unsigned' : 'unreadable';
      }
    },
  };
}

function withAddress({ id, url }: Stripe.Checkout.Session) {
  if (url === null) throw new Error('Stripe made a checkout without an address');
  return { id, url };
}

/** Returns null when Stripe does not know an id: it was deleted there, or is of another mode. */
async function unlessMissing<Found>(ask: () => Promise<Found>): Promise<Found | null> {
  try {
    return await ask();
  } catch (error) {
    if ((error as Partial<Stripe.errors.StripeError>).code === 'resource_missing') return null;
    throw error;
  }
}

function idOf(customer: Stripe.Checkout.Session['customer']): string | null {
  return typeof customer === 'string' ? customer : (customer?.id ?? null);
}

/** The same whenever it is asked for: Stripe refuses other parameters under the same key. */
function chargeParameters(charge: CardCharge): Stripe.PaymentIntentCreateParams {
  return {
    amount: (charge.amount_micros + charge.fee_micros) / microsPerCent,
    currency: 'usd',
    customer: charge.customer_id,
    payment_method: charge.card_id,
    allowed_payment_method_types: ['card'],
    off_session: true,
    confirm: true,
    metadata: { account: charge.account_id, auto_top_up: charge.id },
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
