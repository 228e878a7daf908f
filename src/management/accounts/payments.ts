// Payments by card, and the operators' decisions on those that were not credited automatically.
import { findAccount } from '../../domain/accounts/search-accounts.ts';
import { listPayments } from '../../domain/billing/payments.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import { decidePayment } from '../changes/balances.ts';
import type { paymentsEndpoints } from '../contract/payments.ts';
import type { Handlers } from '../handlers.ts';
import { pageByTime } from '../paging.ts';

export const paymentsHandlers: Handlers<typeof paymentsEndpoints> = {
  'GET /operator/payments': ({ context, query: { search: text, waiting: isWaiting }, page }) =>
    pageByTime(page, (place) => listPayments(context.database.read, { text, isWaiting, ...place })),

  'POST /operator/payments/:payment/decision': async ({ context, params, body, changes }) => {
    const { note } = body;
    const account = body.account && (await findAccount(context.database, body.account));
    if (body.account && !account) throw invalidRequest('account', 'There is no such account.');
    const decision = account
      ? ({ kind: 'assign', accountId: account.id, note } as const)
      : ({ kind: 'dismiss', note } as const);
    const order = { paymentId: params.payment, decision };
    return decidePayment(changes, context.billing.payments, order);
  },
};
