// What an account has, what it paid in, and what it is warned of.
import type { FastifyRequest } from 'fastify';
import { readThreshold, setThreshold } from '../../billing/low-balance.ts';
import { type Checkout, isAway } from '../../billing/stripe-client.ts';
import { findTopUp, openTopUp, setCheckout, type TopUp } from '../../billing/top-ups.ts';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { billingEndpoints } from '../../dashboard-contract/billing.ts';
import { ledgerIdOf } from '../../ledger/commands.ts';
import { readBalance } from '../../ledger/queries.ts';
import { formatUsd, type Micros, micros, microsFromUsd, microsPerCent } from '../../lib/money.ts';
import type { ServerContext } from '../context.ts';
import { audited, type Handlers, unchanged } from './handlers.ts';
import { readStatement } from './statement.ts';

export const billingHandlers: Handlers<typeof billingEndpoints> = {
  'GET /accounts/:account/billing': async ({ context, account, query }) => {
    const { database, gateway, billing } = context;
    const balance = (await readBalance(database.read, ledgerIdOf(account.accountId, query.mode)))!;
    return {
      posted_micros: balance.postedMicros,
      held_micros: balance.heldMicros,
      available_micros: balance.availableMicros,
      top_up: topUpBounds(context),
      contact: gateway.config.billing.contact,
      low_balance: {
        threshold_micros: await readThreshold(database.read, account.accountId),
        can_mail: billing.canWarn,
      },
    };
  },

  'GET /accounts/:account/statement': ({ context, account, query }) => readStatement(context, account.accountId, query),

  'POST /accounts/:account/top-ups': async ({ context, account, session, body, changes, request }) => {
    const amountMicros = checkAmount(context, body.amount_micros);
    const asked = { accountId: account.accountId, userId: session.userId, requestId: body.request_id, amountMicros };
    const topUp = await changes.commit(async (database) => {
      const opened = await openTopUp(database, asked, context.gateway.clock.nowMs());
      if (!opened) throw new ApiError('conflict', 'This top-up was asked for before, with another amount.');
      const { topUp: result, isNew } = opened;
      const change = { action: 'top-up.start', subject: result.id, before: null, after: { amount_micros: amountMicros } };
      return { result, change: isNew ? change : null };
    });
    const output = (checkout_url: string) => ({ id: topUp.id, checkout_url });
    if (topUp.checkout_url !== null) return unchanged(output(topUp.checkout_url));
    const checkout = await createCheckout(context, { topUp, email: session.email, base: baseUrlOf(context, request) });
    await setCheckout(context.database, topUp.id, checkout);
    return audited(output(checkout.url));
  },

  'GET /accounts/:account/top-ups/:topUp': async ({ context, account, params }) => {
    const topUp = await findTopUp(context.database.read, account.accountId, params.topUp);
    if (!topUp) throw new ApiError('not_found', 'There is no such top-up in this account.');
    const { id, amount_micros, state, created_at_ms } = topUp;
    return { id, amount_micros, state, created_at: new Date(created_at_ms).toISOString() };
  },

  'PATCH /accounts/:account/low-balance': async ({ context: { billing }, account: { accountId }, body, changes }) => {
    const threshold = body.threshold_micros === null ? null : micros(body.threshold_micros);
    const after = { threshold_micros: threshold };
    const isChanged = await changes.commit(async (database) => {
      const before = { threshold_micros: await readThreshold(database.write, accountId) };
      if (before.threshold_micros === threshold) return { result: false, change: null };
      await setThreshold(database, accountId, threshold);
      return { result: true, change: { action: 'account.low-balance', subject: accountId, before, after } };
    });
    // Whoever is below it already hears of it at once.
    if (isChanged) void billing.look();
    return audited(after);
  },
};

function topUpBounds({ gateway }: ServerContext) {
  const { stripe } = gateway.config;
  if (!stripe) return null;
  const { min, max, choices } = stripe.top_up_usd;
  return {
    min_micros: microsFromUsd(min),
    max_micros: microsFromUsd(max),
    choices_micros: choices.map((choice) => microsFromUsd(choice)),
  };
}

function checkAmount(context: ServerContext, amount: number): Micros {
  const bounds = topUpBounds(context);
  if (!bounds) throw new ApiError('not_found', 'Nothing can be paid in by card here. Ask whoever runs the service for credit.');
  const { min_micros: min, max_micros: max } = bounds;
  if (amount < min || amount > max)
    throw invalidRequest('amount_micros', `The amount must be from $${formatUsd(min)} to $${formatUsd(max)}.`);
  if (amount % microsPerCent !== 0) throw invalidRequest('amount_micros', 'The amount must be whole cents.');
  return micros(amount);
}

type NewCheckout = { readonly topUp: TopUp; readonly email: string; readonly base: string };

async function createCheckout({ billing, gateway }: ServerContext, { topUp, email, base }: NewCheckout): Promise<Checkout> {
  const back = `${base}/billing?account=${topUp.account_id}`;
  try {
    return await billing.stripe!.createCheckout({
      topUpId: topUp.id,
      accountId: topUp.account_id,
      amountMicros: topUp.amount_micros,
      email,
      productName: `${gateway.config.service.name}: credit`,
      successUrl: `${back}&top_up=${topUp.id}`,
      cancelUrl: back,
    });
  } catch (cause) {
    gateway.log.error({ err: cause, top_up: topUp.id }, 'Stripe made no checkout');
    if (isAway(cause))
      throw new ApiError('upstream_unavailable', 'Stripe cannot be reached at the moment. Try again shortly.', { cause });
    throw new ApiError('upstream_error', 'Stripe refused to open a checkout. Tell whoever runs the service.', { cause });
  }
}

/** Where the browser reaches the dashboard; its Origin was found to be the same. */
function baseUrlOf({ gateway }: ServerContext, request: FastifyRequest): string {
  return gateway.config.server.public_url ?? `${request.protocol}://${request.host}`;
}
