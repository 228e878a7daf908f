// Payments that were credited to nobody by themselves, and what operators make of them.
import { findAccount } from '../../accounts/search-accounts.ts';
import { type Decision, listProblems, type PaymentListing } from '../../billing/payments.ts';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { operatorPaymentsEndpoints } from '../../dashboard-contract/operator-payments.ts';
import type { ServerContext } from '../context.ts';
import { changed, type Changed, type Handlers } from './handlers.ts';

const paymentsMax = 100;

export const operatorPaymentsHandlers: Handlers<typeof operatorPaymentsEndpoints> = {
  'GET /operator/payments': async ({ context }) => ({
    is_configured: context.billing.stripe !== null,
    data: await listProblems(context.database, paymentsMax),
  }),

  'POST /operator/payments/:payment/assign': async ({ context, params, body }) => {
    const account = await findAccount(context.database, body.account);
    if (!account) throw invalidRequest('account', 'There is no such account.');
    return decide(context, params.payment, { kind: 'assign', accountId: account.id, note: body.note });
  },

  'POST /operator/payments/:payment/dismiss': ({ context, params, body }) =>
    decide(context, params.payment, { kind: 'dismiss', note: body.note }),
};

async function decide({ billing }: ServerContext, paymentId: string, decision: Decision): Promise<Changed<PaymentListing>> {
  const payment = await billing.payments.resolve(paymentId, decision);
  if (!payment)
    throw new ApiError('conflict', 'There is nothing to decide: it was decided already, or cannot be credited in dollars.');
  const { account_id: accountId, decision: decided, note } = payment;
  const after = { decision: decided, account: accountId, note };
  return changed(payment, { action: `payment.${decision.kind}`, subject: paymentId, accountId, before: null, after });
}
