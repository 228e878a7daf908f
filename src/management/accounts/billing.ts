// An account's balance: its statement, credits, debits, top-ups and low-balance warning.
import type { Change } from '../../domain/audit/audit-log.ts';
import { cardFeeMicros, feeOf, partsPerMillion } from '../../domain/billing/card-fee.ts';
import { readThresholds } from '../../domain/alerts/thresholds.ts';
import { type Checkout, isAway } from '../../domain/billing/stripe-client.ts';
import { findTopUp, openTopUp, setCheckout, type TopUp } from '../../domain/billing/top-ups.ts';
import { ApiError, invalidRequest, noSuch } from '../../canonical/errors.ts';
import type { billingEndpoints } from '../contract/billing.ts';
import { ledgerIdOf } from '../../domain/ledger/commands.ts';
import { readBalance } from '../../domain/ledger/reports/queries.ts';
import { daysLeft, readPace } from '../../domain/ledger/reports/runway.ts';
import { formatUsd, type Micros, micros, microsFromUsd, microsPerCent } from '../../lib/money.ts';
import { baseUrlOf } from '../../server/server-url.ts';
import { forgiveLosses, requireAccount, setLowBalanceThresholds } from '../changes/accounts.ts';
import { adjustBalance } from '../changes/balances.ts';
import type { ManagementContext } from '../context.ts';
import type { Handlers } from '../handlers.ts';
import { sendReceipt } from './receipt-file.ts';
import { sendStatementFile } from './statement.ts';
import { readStatement } from './statement.ts';

export const billingHandlers: Handlers<typeof billingEndpoints> = {
  'GET /accounts/:account/billing': async ({ context, params, query }) => {
    const { database, gateway, alerts } = context;
    const ledgerId = ledgerIdOf(params.account, query.mode);
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
        thresholds_micros: [...(await readThresholds(database.read, params.account))],
        can_mail: alerts.channels.canMail,
      },
    };
  },

  'GET /accounts/:account/statement': readStatement,

  'GET /accounts/:account/statement.csv': ({ context, params, query, reply }) =>
    sendStatementFile(context, reply, { accountId: params.account, query }),

  'GET /accounts/:account/receipt.pdf': ({ context, params, query, reply }) =>
    sendReceipt(context, reply, { accountId: params.account, entryId: query.entry }),

  'POST /operator/accounts/:account/adjustments': async ({ context, params, body, ...call }) => {
    const { changes, once } = call;
    const { account: accountId } = params;
    const { kind, mode, note, amount_micros } = body;
    await requireAccount(context.database.read, accountId);
    return once.withLedger(ledgerIdOf(accountId, mode), async (id) => {
      const order = {
        kind,
        accountId,
        mode,
        amountMicros: micros(amount_micros),
        note,
        entryId: id,
      };
      const booked = await adjustBalance(changes, context.gateway.books.ledger, order);
      // The entry may be older than the kept answer. It counts; a different one is refused.
      if (!booked) throw once.conflict('with another kind, amount or note. Nothing was booked.');
      const { entryId: entry_id, availableMicros: available_micros } = booked;
      return { entry_id, account_id: accountId, kind, mode, amount_micros, note, available_micros };
    });
  },

  'POST /admin/v1/accounts/:account/forgive-losses': ({ params, once }) =>
    once.inTransaction(({ changes }) => forgiveLosses(changes, params.account)),

  'POST /accounts/:account/top-ups': async ({ context, params, session, body, ...call }) => {
    const amountMicros = checkAmount(context, body.amount_micros);
    const feeMicros = cardFeeMicros(amountMicros, feeOf(context.gateway.config.stripe!));
    const order = {
      accountId: params.account,
      userId: session.userId,
      requestId: body.request_id,
      amountMicros,
      feeMicros,
    };
    const topUp = await call.changes.commit(async (database) => {
      const opened = await openTopUp(database.write, order, context.gateway.clock.nowMs());
      if (!opened)
        throw new ApiError('conflict', 'This request id was used before for another amount.');
      const { topUp: result, isNew } = opened;
      const after = {
        amount_micros: amountMicros,
        ...(feeMicros > 0 && { fee_micros: feeMicros }),
      };
      const change: Change = { action: 'top-up.start', subject: result.id, after };
      return { result, change: isNew ? change : null };
    });
    const output = (checkout_url: string) => ({ id: topUp.id, checkout_url });
    if (topUp.checkout_url !== null) return output(topUp.checkout_url);
    const checkout = await createCheckout(context, {
      topUp,
      email: session.email,
      base: baseUrlOf(context.gateway.config.server.public_url, call.request),
    });
    await setCheckout(call.changes.unrecorded.write, topUp.id, checkout);
    return output(checkout.url);
  },

  'GET /accounts/:account/top-ups/:topUp': async ({ context, params }) => {
    const topUp = await findTopUp(context.database.read, params.account, params.topUp);
    if (!topUp) throw noSuch('top-up in this account');
    const { id, amount_micros, state, created_at_ms } = topUp;
    return { id, amount_micros, state, created_at: new Date(created_at_ms).toISOString() };
  },

  'PATCH /accounts/:account/low-balance': async ({ context, params, body, changes }) => {
    const thresholds = body.thresholds_micros.map((threshold) => micros(threshold));
    const isChanged = await setLowBalanceThresholds(changes, params.account, thresholds);
    // Warns at once when the balance is below one already.
    if (isChanged) void context.alerts.check();
    return { thresholds_micros: thresholds };
  },
};

function topUpBounds({ gateway }: ManagementContext) {
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

/** Throws ApiError 400, or 404 without Stripe. */
export function checkAmount(
  context: ManagementContext,
  amount: number,
  field = 'amount_micros',
): Micros {
  const bounds = topUpBounds(context);
  if (!bounds) throw noCardPayments();
  const { min_micros: min, max_micros: max } = bounds;
  if (amount < min || amount > max)
    throw invalidRequest(
      field,
      `The amount must be from $${formatUsd(min)} to $${formatUsd(max)}.`,
    );
  if (amount % microsPerCent !== 0) throw invalidRequest(field, 'The amount must be whole cents.');
  return micros(amount);
}

export function noCardPayments(): ApiError {
  const message = 'Card payments are not available here. Ask the operator for credit.';
  return new ApiError('not_found', message);
}

type NewCheckout = { readonly topUp: TopUp; readonly email: string; readonly base: string };

function createCheckout(
  context: ManagementContext,
  { topUp, email, base }: NewCheckout,
): Promise<Checkout> {
  const back = `${base}/billing?account=${topUp.account_id}`;
  return askStripe(context, () =>
    context.billing.stripe!.createCheckout({
      topUpId: topUp.id,
      accountId: topUp.account_id,
      amountMicros: topUp.amount_micros,
      feeMicros: topUp.fee_micros,
      email,
      productName: `${context.gateway.config.service.name}: credit`,
      successUrl: `${back}&top_up=${topUp.id}`,
      cancelUrl: back,
    }),
  );
}

/** Throws ApiError when Stripe opens no checkout. */
export async function askStripe(
  { gateway }: ManagementContext,
  open: () => Promise<Checkout>,
): Promise<Checkout> {
  try {
    return await open();
  } catch (cause) {
    gateway.log.error({ err: cause }, 'Stripe created no checkout');
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
