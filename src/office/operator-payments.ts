// Payments that were not credited automatically, and the operators' decisions on them.
import type { AuditedChanges } from '../domain/audit/audited-changes.ts';
import { findAccount } from '../domain/accounts/search-accounts.ts';
import { type Decision, listProblems, type PaymentListing } from '../domain/billing/payments.ts';
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import type { operatorPaymentsEndpoints } from './contract/operator-payments.ts';
import { decidePayment } from './changes/balances.ts';
import type { DashboardContext } from './context.ts';
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
    return decide({ context, changes }, params.payment, {
      kind: 'assign',
      accountId: account.id,
      note: body.note,
    });
  },

  'POST /operator/payments/:payment/dismiss': ({ context, params, body, changes }) =>
    decide({ context, changes }, params.payment, { kind: 'dismiss', note: body.note }),
};

type AuditedCall = { readonly context: DashboardContext; readonly changes: AuditedChanges };

async function decide(
  { context: { billing }, changes }: AuditedCall,
  paymentId: string,
  decision: Decision,
): Promise<Changed<PaymentListing>> {
  const payment = await decidePayment(changes, billing.payments, { paymentId, decision });
  if (!payment)
    throw new ApiError(
      'conflict',
      'This payment needs no decision: it was decided already, or cannot be credited in dollars.',
    );
  return audited(payment);
}
