// Payments that were not credited automatically, and the operators' decisions on them.
import { findAccount } from '../../domain/accounts/search-accounts.ts';
import { listPayments, listProblems } from '../../domain/billing/payments.ts';
import { invalidRequest } from '../../canonical/errors.ts';
import { decidePayment } from '../changes/balances.ts';
import type { paymentsEndpoints } from '../contract/payments.ts';
import type { Handlers } from '../handlers.ts';
import { pageByTime } from '../paging.ts';

const paymentsMax = 100;

export const paymentsHandlers: Handlers<typeof paymentsEndpoints> = {
  'GET /operator/payments': async ({ context }) => ({
    is_configured: context.billing.stripe !== null,
    data: await listProblems(context.database.read, paymentsMax),
  }),

  'GET /operator/payments/all': ({ context, query, page }) =>
    pageByTime(page, (place) =>
      listPayments(context.database.read, { text: query.search, ...place }),
    ),

  'POST /operator/payments/:payment/assign': async ({ context, params, body, changes }) => {
    const account = await findAccount(context.database, body.account);
    if (!account) throw invalidRequest('account', 'There is no such account.');
    const decision = { kind: 'assign', accountId: account.id, note: body.note } as const;
    const order = { paymentId: params.payment, decision };
    return decidePayment(changes, context.billing.payments, order);
  },

  'POST /operator/payments/:payment/dismiss': ({ context, params, body, changes }) => {
    const decision = { kind: 'dismiss', note: body.note } as const;
    const order = { paymentId: params.payment, decision };
    return decidePayment(changes, context.billing.payments, order);
  },
};
