// The parts of Stripe that Tollgate uses, on loopback: checkouts that can be paid in a browser or
// by a call, and events signed with Stripe's own library.
//
//   const stripe = await startStripe(t);                  // stripe.config: for the configuration
//   stripe.sendTo(gateway.url);                           // the target of events
//   const payment = await stripe.pay(checkoutUrl);        // also delivers the event
//   await stripe.deliver(stripe.refunded(payment, 250));  // returns the gateway's answer
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';
import type { Hooks } from './file-hooks.ts';
import { send, type Reply } from './http.ts';

export type StripeEvent = {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: object };
};

export type Payment = {
  readonly session: CheckoutSession;
  readonly intent: string;
  readonly charge: string;
};

export type CheckoutSession = {
  readonly id: string;
  readonly url: string;
  readonly amountCents: number;
  readonly currency: string;
  readonly reference: string | null;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** As sent, each field under its form name. */
  readonly fields: Readonly<Record<string, string>>;
};

/** An intent that charges a saved card. */
export type Intent = {
  readonly id: string;
  readonly status: 'succeeded' | 'processing' | 'requires_payment_method' | 'requires_confirmation';
  readonly amount: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly customer: string;
};

/**
 * How the next charge ends. `lost`: it is made, and its answer does not arrive. `unheard`: the request
 * does not arrive. `broken`: Stripe answers with 500 and makes none. `broken-for-good`: it also answers so
 * whenever the key comes again, as Stripe does once it has begun. `unconfirmed`: likewise, and leaves an
 * intent that charges nothing.
 */
export type ChargeFault =
  | 'card_declined'
  | 'authentication_required'
  | 'expired_card'
  | 'processing'
  | 'lost'
  | 'unheard'
  | 'broken'
  | 'broken-for-good'
  | 'unconfirmed';

const unpaid: Partial<Record<ChargeFault, Intent['status']>> = {
  processing: 'processing',
  unconfirmed: 'requires_confirmation',
};

const webhookSecret = 'whsec_of_the_local_stripe';
const { webhooks } = new Stripe('sk_test_local_stripe');

export class LocalStripe {
  readonly url: string;
  readonly sessions = new Map<string, CheckoutSession>();
  /** Statuses with which the next checkouts fail, once each. */
  readonly failures: number[] = [];
  requests = 0;
  readonly intents: Intent[] = [];
  readonly chargeFaults: ChargeFault[] = [];
  /** Called when a charge was made, before it is answered. */
  onCharge: (intent: Intent) => void | Promise<void> = () => {};
  readonly detached: string[] = [];
  /** Called before it answers which card was saved at a checkout. */
  onReadCard: () => void | Promise<void> = () => {};
  readonly brokenKeys = new Set<string>();
  /** Customers that it does not know (any more). */
  readonly lostCustomers = new Set<string>();
  #gatewayUrl = '';
  #count = 0;
  readonly #byKey = new Map<string, CheckoutSession>();
  readonly #intentByKey = new Map<string, string>();

  constructor(url: string) {
    this.url = url;
  }

  /** The `stripe` section of a configuration. */
  get config() {
    return { secret_key: 'sk_test_local_stripe', webhook_secret: webhookSecret };
  }

  /** Leads a gateway to this server. */
  get tuning() {
    return { stripeUrl: this.url };
  }

  sendTo(gatewayUrl: string): void {
    this.#gatewayUrl = gatewayUrl;
  }

  /** Creates a checkout. The same idempotency key returns the same one. */
  open(fields: Readonly<Record<string, string>>, idempotencyKey: string): CheckoutSession {
    const known = this.#byKey.get(idempotencyKey);
    if (known) return known;
    const id = this.#newId('cs_test');
    const session = {
      id,
      url: `${this.url}/pay/${id}`,
      amountCents: sumOfLines(fields),
      currency: fields['line_items[0][price_data][currency]']!,
      reference: fields['client_reference_id'] ?? null,
      successUrl: fields['success_url']!,
      cancelUrl: fields['cancel_url']!,
      fields,
    };
    this.sessions.set(id, session);
    this.#byKey.set(idempotencyKey, session);
    return session;
  }

  /** Pays as the customer does, and delivers the event. */
  async pay(checkoutUrl: string): Promise<Payment> {
    const payment = this.paymentOf(checkoutUrl);
    const reply = await this.deliver(this.completed(payment));
    assert.equal(reply.status, 200, reply.text);
    return payment;
  }

  /** Paid, but the event is not delivered yet. */
  paymentOf(checkoutUrl: string): Payment {
    const session = this.sessions.get(checkoutUrl.split('/').at(-1)!);
    assert.ok(session, `there is no checkout ${checkoutUrl}`);
    return { session, intent: `pi_${session.id}`, charge: `ch_${session.id}` };
  }

  /** Saves a card as the customer does at a checkout, and delivers the event. */
  async saveCard(checkoutUrl: string): Promise<Reply> {
    return this.deliver(this.cardSaved(checkoutUrl));
  }

  cardSaved(checkoutUrl: string): StripeEvent {
    const { session } = this.paymentOf(checkoutUrl);
    return this.#event('checkout.session.completed', this.setupOf(session.id));
  }

  setupOf(id: string) {
    const { fields } = this.sessions.get(id)!;
    const customer = fields['customer'] ?? `cus_${id}`;
    const card = { brand: 'visa', last4: '4242' };
    return {
      id,
      object: 'checkout.session',
      mode: 'setup',
      customer,
      client_reference_id: null,
      metadata: metadataOf(fields),
      setup_intent: { id: `seti_${id}`, payment_method: { id: `pm_${id}`, card } },
      created: 1,
    };
  }

  succeeded({ id }: Pick<Intent, 'id'>): StripeEvent {
    return this.#event('payment_intent.succeeded', this.intentOf(id));
  }

  /** As the API shows it. */
  intentOf(id: string) {
    const { amount, status, ...intent } = this.intents.find((one) => one.id === id)!;
    return {
      ...intent,
      status,
      object: 'payment_intent',
      amount,
      amount_received: status === 'succeeded' ? amount : 0,
      currency: 'usd',
      created: Math.floor(Date.now() / 1_000),
      last_payment_error:
        status === 'requires_payment_method' ? { type: 'card_error', code: 'card_declined' } : null,
    };
  }

  /** An intent that was processing is paid. */
  settle(id: string): void {
    const at = this.intents.findIndex((one) => one.id === id);
    this.intents[at] = { ...this.intents[at]!, status: 'succeeded' };
  }

  /** Charges a saved card. The same idempotency key returns the same intent. */
  charge(fields: Readonly<Record<string, string>>, key: string, fault?: ChargeFault): Intent {
    const known = this.#intentByKey.get(key);
    if (known) return this.intents.find(({ id }) => id === known)!;
    assert.equal(fields['off_session'], 'true');
    assert.equal(fields['confirm'], 'true');
    assert.equal(fields['currency'], 'usd');
    const isPaid = fault === undefined || fault === 'lost';
    const intent: Intent = {
      id: this.#newId('pi'),
      status: isPaid ? 'succeeded' : (unpaid[fault] ?? 'requires_payment_method'),
      amount: Number(fields['amount']),
      metadata: metadataOf(fields),
      customer: fields['customer']!,
    };
    this.intents.unshift(intent);
    this.#intentByKey.set(key, intent.id);
    return intent;
  }

  completed(
    payment: Payment,
    { paid = true, cents = payment.session.amountCents, currency = payment.session.currency } = {},
  ): StripeEvent {
    return this.#event(
      'checkout.session.completed',
      this.#session(payment, paid ? 'paid' : 'unpaid', { cents, currency }),
    );
  }

  paidLater(payment: Payment): StripeEvent {
    return this.#event('checkout.session.async_payment_succeeded', this.#session(payment, 'paid'));
  }

  failedLater(payment: Payment): StripeEvent {
    return this.#event('checkout.session.async_payment_failed', this.#session(payment, 'unpaid'));
  }

  expired(payment: Payment): StripeEvent {
    return this.#event('checkout.session.expired', this.#session(payment, 'unpaid'));
  }

  /** `cents`: the total refunded so far. */
  refunded({ intent, charge, session }: Payment, cents: number, atS?: number): StripeEvent {
    const object = {
      id: charge,
      object: 'charge',
      payment_intent: intent,
      amount_refunded: cents,
      currency: session.currency,
      created: 1,
    };
    return this.#event('charge.refunded', object, atS);
  }

  refundFailed(
    { intent, session }: Payment,
    refund: { readonly id: string; readonly cents: number; readonly beganS: number },
    atS?: number,
  ): StripeEvent {
    const object = {
      id: refund.id,
      object: 'refund',
      payment_intent: intent,
      amount: refund.cents,
      currency: session.currency,
      created: refund.beganS,
      status: 'failed',
    };
    return this.#event('refund.failed', object, atS);
  }

  dispute(
    { intent, session }: Payment,
    what: 'created' | 'funds_withdrawn' | 'closed' | 'funds_reinstated',
    {
      id = 'du_1',
      cents = session.amountCents,
      status = 'needs_response',
      atS,
    }: DisputeOptions = {},
  ): StripeEvent {
    const object = {
      id,
      object: 'dispute',
      payment_intent: intent,
      amount: cents,
      currency: session.currency,
      created: 1,
      status,
    };
    return this.#event(`charge.dispute.${what}`, object, atS);
  }

  /** An unrelated event. */
  other(type: string): StripeEvent {
    return this.#event(type, { id: 'in_1', object: 'invoice' });
  }

  deliver(
    event: StripeEvent,
    { secret = webhookSecret, ageS = 0 }: { readonly secret?: string; readonly ageS?: number } = {},
  ): Promise<Reply> {
    const payload = JSON.stringify(event);
    const timestamp = Math.floor(Date.now() / 1_000) - ageS;
    const signature = webhooks.generateTestHeaderString({ payload, secret, timestamp });
    return send(`${this.#gatewayUrl}/webhooks/stripe`, {
      body: payload,
      headers: { 'stripe-signature': signature },
    });
  }

  #session(
    { session, intent }: Payment,
    status: 'paid' | 'unpaid',
    { cents, currency } = { cents: session.amountCents, currency: session.currency },
  ) {
    return {
      id: session.id,
      object: 'checkout.session',
      mode: 'payment',
      payment_status: status,
      payment_intent: intent,
      amount_total: cents,
      currency,
      client_reference_id: session.reference,
      metadata: metadataOf(session.fields),
      created: 1,
    };
  }

  #event(
    type: string,
    object: object,
    created: number = Math.floor(Date.now() / 1_000),
  ): StripeEvent {
    return {
      id: this.#newId('evt'),
      object: 'event',
      type,
      created,
      data: { object },
    } as StripeEvent;
  }

  #newId(prefix: string): string {
    return `${prefix}_${(this.#count += 1)}_${Math.random().toString(36).slice(2, 10)}`;
  }
}

function sumOfLines(fields: Readonly<Record<string, string>>): number {
  const amounts = Object.entries(fields).filter(([name]) =>
    /^line_items\[\d+\]\[price_data\]\[unit_amount\]$/.test(name),
  );
  return amounts.reduce((sum, [, cents]) => sum + Number(cents), 0);
}

/** A form's `metadata[account]`. */
function metadataOf(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const named = Object.entries(fields).map(([name, value]) => [
    /^metadata\[(\w+)\]$/.exec(name)?.[1],
    value,
  ]);
  return Object.fromEntries(named.filter(([name]) => name !== undefined)) as Record<string, string>;
}

type DisputeOptions = {
  readonly id?: string;
  readonly cents?: number;
  readonly status?: string;
  readonly atS?: number;
};

/** Starts on a free port; stops with the test or the file. */
export async function startStripe(t?: Hooks): Promise<LocalStripe> {
  const server = createServer((request, response) => void answer(stripe, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stripe = new LocalStripe(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  t?.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return stripe;
}

async function answer(
  stripe: LocalStripe,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = new URLSearchParams(Buffer.concat(await request.toArray()).toString('utf8'));
  const path = request.url ?? '';
  if (path === '/v1/checkout/sessions') return answerCheckout(stripe, request, { body, response });
  if (path.startsWith('/v1/')) return answerCards(stripe, request, { body, response });
  const id = path.split('/').at(-1)!;
  if (!path.startsWith('/pay/') || !stripe.sessions.has(id))
    return void response.writeHead(404).end();
  if (request.method === 'POST') {
    if (stripe.sessions.get(id)!.fields['mode'] === 'setup') await stripe.saveCard(path);
    else await stripe.pay(path);
    return void response.writeHead(303, { location: stripe.sessions.get(id)!.successUrl }).end();
  }
  const { amountCents, cancelUrl } = stripe.sessions.get(id)!;
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end(
    `<!doctype html><html lang="en"><title>Checkout</title><link rel="icon" href="data:,"><h1>Pay $${(amountCents / 100).toFixed(2)}</h1>
    <form method="post"><button>Pay</button></form><a href="${cancelUrl}">Back</a></html>`,
  );
}

/** Saved cards, and what charges them. */
async function answerCards(
  stripe: LocalStripe,
  request: IncomingMessage,
  { body, response }: CheckoutCall,
): Promise<void> {
  const json = (status: number, value: object) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };
  const { pathname, searchParams } = new URL(request.url!, stripe.url);
  const [, , kind, id] = pathname.split('/');
  if (kind === 'checkout') {
    await stripe.onReadCard();
    return json(200, stripe.setupOf(pathname.split('/').at(-1)!));
  }
  if (kind === 'payment_methods') {
    stripe.detached.push(id!);
    return json(200, { id });
  }
  if (request.method === 'GET') {
    if (id !== undefined) return json(200, stripe.intentOf(id));
    if (stripe.lostCustomers.has(searchParams.get('customer')!)) return json(400, noSuchCustomer);
    const own = stripe.intents.filter(({ customer }) => customer === searchParams.get('customer'));
    return json(200, { object: 'list', data: own.map((one) => stripe.intentOf(one.id)) });
  }
  const fault = stripe.chargeFaults.shift();
  // Stripe's package repeats at once what is cut off before the answer begins.
  const cut = () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{', () => response.destroy());
  };
  if (fault === 'unheard') return cut();
  const key = String(request.headers['idempotency-key']);
  if (fault === 'unconfirmed') stripe.charge(Object.fromEntries(body), key, fault);
  if (fault === 'broken-for-good' || fault === 'unconfirmed') stripe.brokenKeys.add(key);
  if (fault === 'broken' || stripe.brokenKeys.has(key))
    return json(500, { error: { type: 'api_error', message: 'broken' } });
  const { id: intent } = stripe.charge(Object.fromEntries(body), key, fault);
  const made = stripe.intentOf(intent);
  await stripe.onCharge(made);
  if (fault === 'lost') return cut();
  if (made.status !== 'requires_payment_method') return json(200, made);
  const code = fault ?? 'card_declined';
  return json(402, {
    error: { type: 'card_error', code, message: 'The card was not charged.', payment_intent: made },
  });
}

const noSuchCustomer = {
  error: { type: 'invalid_request_error', code: 'resource_missing', param: 'customer' },
};

type CheckoutCall = { readonly body: URLSearchParams; readonly response: ServerResponse };

function answerCheckout(
  stripe: LocalStripe,
  request: IncomingMessage,
  { body, response }: CheckoutCall,
): void {
  stripe.requests += 1;
  const failure = stripe.failures.shift();
  const json = (status: number, value: object) => {
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(failure && { 'stripe-should-retry': 'false' }),
    });
    response.end(JSON.stringify(value));
  };
  if (failure !== undefined)
    return json(failure, { error: { type: 'api_error', message: `status ${failure}` } });
  if (request.headers.authorization !== `Bearer ${stripe.config.secret_key}`)
    return json(401, { error: { message: 'no such key' } });
  if (stripe.lostCustomers.has(body.get('customer') ?? '')) return json(400, noSuchCustomer);
  const { id, url } = stripe.open(
    Object.fromEntries(body),
    String(request.headers['idempotency-key']),
  );
  json(200, { id, object: 'checkout.session', url });
}
