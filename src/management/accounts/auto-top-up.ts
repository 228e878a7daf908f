// Top-ups that Tollgate starts by itself with a saved card.
import { invalidRequest } from '../../canonical/errors.ts';
import {
  chargedInMonth,
  findAutoTopUp,
  findLastAttempt,
} from '../../domain/billing/auto-top-ups.ts';
import { cardFeeMicros, feeOf } from '../../domain/billing/card-fee.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { formatUsd, micros } from '../../lib/money.ts';
import { baseUrlOf } from '../../server/server-url.ts';
import {
  allowsMore,
  type AutoTopUpSettings,
  removeCard,
  setAutoTopUp,
  startCard,
} from '../changes/auto-top-up.ts';
import type { ManagementContext } from '../context.ts';
import type { autoTopUpEndpoints } from '../contract/auto-top-up.ts';
import type { Handlers } from '../handlers.ts';
import { askStripe, checkAmount, noCardPayments } from './billing.ts';

export const autoTopUpHandlers: Handlers<typeof autoTopUpEndpoints> = {
  'GET /accounts/:account/auto-top-up': ({ context, params }) => shown(context, params.account),

  'PATCH /accounts/:account/auto-top-up': async ({ context, params, session, body, ...call }) => {
    const { account: accountId } = params;
    const settings = body.settings && checkSettings(context, body.settings);
    const before = await findAutoTopUp(context.database.read, accountId);
    const isConfirmed = settings !== null && allowsMore(before, settings);
    if (isConfirmed) await call.confirm();
    await setAutoTopUp(call.changes, { accountId, userId: session.userId, settings, isConfirmed });
    // Charges at once when the balance is below the threshold already.
    if (settings) void context.billing.check();
    return shown(context, accountId);
  },

  'POST /accounts/:account/auto-top-up/card': async ({ context, params, session, ...call }) => {
    const { stripe } = context.billing;
    if (!stripe) throw noCardPayments();
    const { account: accountId } = params;
    const known = await findAutoTopUp(context.database.read, accountId);
    const base = baseUrlOf(context.gateway.config.server.public_url, call.request);
    const { id, url } = await askStripe(context, () =>
      stripe.createCardCheckout({
        accountId,
        email: session.email,
        customerId: known?.customer_id ?? null,
        successUrl: `${base}/billing?account=${accountId}&card=saved`,
        cancelUrl: `${base}/billing?account=${accountId}`,
      }),
    );
    await startCard(call.changes, accountId, { checkout_id: id });
    return { checkout_url: url };
  },

  'DELETE /accounts/:account/auto-top-up/card': async ({ context, params, changes }) => {
    const { billing, gateway } = context;
    const cardId = await removeCard(changes, params.account);
    // It is charged no more, whatever Stripe answers.
    await billing.stripe
      ?.forgetCard(cardId)
      .catch((err: unknown) => gateway.log.warn({ err }, 'Stripe has not removed a saved card'));
  },
};

type Amounts = Readonly<Record<keyof AutoTopUpSettings, number>>;

/** Throws ApiError 400, or 404 without Stripe. */
function checkSettings(context: ManagementContext, asked: Amounts): AutoTopUpSettings {
  const amount_micros = checkAmount(context, asked.amount_micros, 'settings.amount_micros');
  const fee = cardFeeMicros(amount_micros, feeOf(context.gateway.config.stripe!));
  const one = micros(amount_micros + fee);
  if (asked.ceiling_micros < one)
    throw invalidRequest(
      'settings.ceiling_micros',
      `The ceiling must be at least one top-up with its fee, $${formatUsd(one)}.`,
    );
  const [threshold, ceiling] = [micros(asked.threshold_micros), micros(asked.ceiling_micros)];
  return { threshold_micros: threshold, amount_micros, ceiling_micros: ceiling };
}

async function shown({ database, gateway, billing }: ManagementContext, accountId: string) {
  const row = await findAutoTopUp(database.read, accountId);
  const last = await findLastAttempt(database.read, accountId);
  const { threshold_micros, amount_micros, ceiling_micros, card_brand, card_last4 } = row ?? {};
  const isOn = threshold_micros && amount_micros && ceiling_micros;
  return {
    is_available: billing.stripe !== null,
    card: row?.card_id ? { brand: card_brand!, last4: card_last4! } : null,
    settings: isOn ? { threshold_micros, amount_micros, ceiling_micros } : null,
    paused: row?.paused_reason
      ? { reason: row.paused_reason, at: isoTimeOf(row.paused_at_ms)! }
      : null,
    month_micros: await chargedInMonth(database.read, accountId, gateway.clock.nowMs()),
    last: last
      ? {
          id: last.id,
          amount_micros: last.amount_micros,
          state: last.state as Exclude<typeof last.state, 'expired'>,
          problem: last.problem,
          created_at: new Date(last.created_at_ms).toISOString(),
        }
      : null,
  };
}
