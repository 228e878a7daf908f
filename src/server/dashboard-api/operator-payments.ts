// Payments that were credited to nobody by themselves, and what operators make of them.
import type { AuditedChanges } from '../../audit/audited-changes.ts';
import { findAccount } from '../../accounts/search-accounts.ts';
import { type Decision, listProblems, type PaymentListing } from '../../billing/payments.ts';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { operatorPaymentsEndpoints } from '../../dashboard-contract/operator-payments.ts';
import type { ServerContext } from '../context.ts';
import { audited, type Changed, type Handlers } from './handlers.ts';

const paymentsMax = 100;

export const operatorPaymentsHandlers: Handlers<typeof operatorPaymentsEndpoints> = {
  'GET /operator/payments': async ({ context }) => ({
    is_configured: context.billing.stripe !== null,
    data: await listProblems(context.database, paymentsMax),
  }),

  'POST /operator/payments/:payment/assign': async ({ context, params, body, changes }) => {
    const account = await findAccount(context.database, body.account);
    if (!account) throw invalidRequest('account', 'There is no such account.');
    return decide({ context, changes }, params.payment, { kind: 'assign', accountId: account.id, note: body.note });
  },

  'POST /operator/payments/:payment/dismiss': ({ context, params, body, changes }) =>
    decide({ context, changes }, params.payment, { kind: 'dismiss', note: body.note }),
};

type Deciding = { readonly context: ServerContext; readonly changes: AuditedChanges };

async function decide(
  { context: { billing }, changes }: Deciding,
  paymentId: string,
  decision: Decision,
): Promise<Changed<PaymentListing>> {
  const payment = await billing.payments.resolve(paymentId, decision, async (write, decided) => {
    const { account_id: accountId, decision: kind, note } = decided;
    const after = { decision: kind, account: accountId, note };
    await changes.note({ write }, { action: `payment.${decision.kind}`, subject: paymentId, accountId, before: null, after });
  });
  if (!payment)
    throw new ApiError('conflict', 'There is nothing to decide: it was decided already, or cannot be credited in dollars.');
  return audited(payment);
}
