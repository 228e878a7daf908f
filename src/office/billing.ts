// An account's balance, top-ups and low-balance warning.
import type { Change } from '../domain/audit/audit-log.ts';
import { type CardFee, cardFeeMicros, partsPerMillion } from '../domain/billing/card-fee.ts';
import { readThreshold } from '../domain/billing/low-balance.ts';
import { type Checkout, isAway } from '../domain/billing/stripe-client.ts';
import { findTopUp, openTopUp, setCheckout, type TopUp } from '../domain/billing/top-ups.ts';
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import type { billingEndpoints } from './contract/billing.ts';
import { ledgerIdOf } from '../domain/ledger/commands.ts';
import { readBalance } from '../domain/ledger/reports/queries.ts';
import { daysLeft, readPace } from '../domain/ledger/reports/runway.ts';
import { formatUsd, type Micros, micros, microsFromUsd, microsPerCent } from '../lib/money.ts';
import { baseUrlOf } from '../server/server-url.ts';
import { setLowBalanceThreshold } from './changes/accounts.ts';
import type { DashboardContext } from './context.ts';
import { audited, type Handlers, unchanged } from './handlers.ts';
import { readStatement } from './statement.ts';

export const billingHandlers: Handlers<typeof billingEndpoints> = {
  'GET /accounts/:account/billing': async ({ context, account, query }) => {
    const { database, gateway, billing } = context;
    const ledgerId = ledgerIdOf(account.accountId, query.mode);
    const balance = (await readBalance(database.read, ledgerId))!;
    const pace = await readPace(database.read, ledgerId, gateway.clock.nowMs());
    return {
      posted_micros: balance.postedMicros,
      held_micros: balance.heldMicros,
      available_micros: balance.availableMicros,
      top_up: topUpBounds(context),
      contact: gateway.config.billing.contact,
      runway: pace && {
        days_left: daysLeft(balance.availableMicros, pace),
        daily_micros: pace.dailyMicros,
        days: pace.days,
      },
      low_balance: {
        threshold_micros: await readThreshold(database.read, account.accountId),
        can_mail: billing.canWarn,
      },
    };
  },

  'GET /accounts/:account/statement': ({ context, account, query }) =>
    readStatement(context, account.accountId, query),

  'POST /accounts/:account/top-ups': async ({
    context,
    account,
    session,
    body,
    changes,
    request,
  }) => {
    const amountMicros = checkAmount(context, body.amount_micros);
    const feeMicros = cardFeeMicros(amountMicros, feeOf(context.gateway.config.stripe!));
    const order = {
      accountId: account.accountId,
      userId: session.userId,
      requestId: body.request_id,
      amountMicros,
      feeMicros,
    };
    const topUp = await changes.commit(async (database) => {
      const opened = await openTopUp(database, order, context.gateway.clock.nowMs());
      if (!opened)
        throw new ApiError('conflict', 'This request id was used before for another amount.');
      const { topUp: result, isNew } = opened;
      const after = {
        amount_micros: amountMicros,
        ...(feeMicros > 0 && { fee_micros: feeMicros }),
      };
      const change: Change = { action: 'top-up.start', subject: result.id, before: null, after };
      return { result, change: isNew ? change : null };
    });
    const output = (checkout_url: string) => ({ id: topUp.id, checkout_url });
    if (topUp.checkout_url !== null) return unchanged(output(topUp.checkout_url));
    const checkout = await createCheckout(context, {
      topUp,
      email: session.email,
      base: baseUrlOf(context.gateway.config.server.public_url, request),
    });
    await setCheckout(context.database, topUp.id, checkout);
    return audited(output(checkout.url));
  },

  'GET /accounts/:account/top-ups/:topUp': async ({ context, account, params }) => {
    const topUp = await findTopUp(context.database.read, account.accountId, params.topUp);
    if (!topUp) throw new ApiError('not_found', 'There is no such top-up in this account.');
    const { id, amount_micros, state, created_at_ms } = topUp;
    return { id, amount_micros, state, created_at: new Date(created_at_ms).toISOString() };
  },

  'PATCH /accounts/:account/low-balance': async ({
    context: { billing },
    account: { accountId },
    body,
    changes,
  }) => {
    const threshold = body.threshold_micros === null ? null : micros(body.threshold_micros);
    const isChanged = await setLowBalanceThreshold(changes, accountId, threshold);
    // Warns at once when the balance is below the threshold already.
    if (isChanged) void billing.check();
    return audited({ threshold_micros: threshold });
  },
};

function topUpBounds({ gateway }: DashboardContext) {
  const { stripe } = gateway.config;
  if (!stripe) return null;
  const { min, max, choices } = stripe.top_up_usd;
  const { percent, fixedCents } = feeOf(stripe);
  return {
    min_micros: microsFromUsd(min),
    max_micros: microsFromUsd(max),
    choices_micros: choices.map((choice) => microsFromUsd(choice)),
    fee: { ppm: partsPerMillion(percent), fixed_micros: fixedCents * microsPerCent },
  };
}

function feeOf({ fee_percent: percent, fee_fixed_cents: fixedCents }: StripeSettings): CardFee {
  return { percent, fixedCents };
}

type StripeSettings = NonNullable<DashboardContext['gateway']['config']['stripe']>;

function checkAmount(context: DashboardContext, amount: number): Micros {
  const bounds = topUpBounds(context);
  if (!bounds)
    throw new ApiError(
      'not_found',
      'Card payments are not available here. Ask the operator for credit.',
    );
  const { min_micros: min, max_micros: max } = bounds;
  if (amount < min || amount > max)
    throw invalidRequest(
      'amount_micros',
      `The amount must be from $${formatUsd(min)} to $${formatUsd(max)}.`,
    );
  if (amount % microsPerCent !== 0)
    throw invalidRequest('amount_micros', 'The amount must be whole cents.');
  return micros(amount);
}

type NewCheckout = { readonly topUp: TopUp; readonly email: string; readonly base: string };

async function createCheckout(
  { billing, gateway }: DashboardContext,
  { topUp, email, base }: NewCheckout,
): Promise<Checkout> {
  const back = `${base}/billing?account=${topUp.account_id}`;
  try {
    return await billing.stripe!.createCheckout({
      topUpId: topUp.id,
      accountId: topUp.account_id,
      amountMicros: topUp.amount_micros,
      feeMicros: topUp.fee_micros,
      email,
      productName: `${gateway.config.service.name}: credit`,
      successUrl: `${back}&top_up=${topUp.id}`,
      cancelUrl: back,
    });
  } catch (cause) {
    gateway.log.error({ err: cause, top_up: topUp.id }, 'Stripe created no checkout');
    if (isAway(cause))
      throw new ApiError(
        'upstream_unavailable',
        'Stripe cannot be reached at the moment. Try again shortly.',
        { cause },
      );
    throw new ApiError('upstream_error', 'Stripe refused to open a checkout. Tell the operator.', {
      cause,
    });
  }
}
