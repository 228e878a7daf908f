// Payments that were not credited automatically, and what operators decide about them.
import { Type } from 'typebox';
import { closed, orNull, Search } from './common.ts';
import { endpoint } from './endpoint.ts';

const OperatorPayment = closed({
  id: Type.String({ description: "Stripe's." }),
  account_id: orNull(Type.String()),
  amount_micros: orNull(Type.Integer()),
  currency: orNull(Type.String(), '`usd`; only that can be assigned.'),
  problem: orNull(Type.Enum(['unknown-account', 'wrong-amount', 'wrong-currency'])),
  decision: orNull(Type.Enum(['assigned', 'dismissed'])),
  note: orNull(Type.String()),
  paid_at: orNull(Type.String()),
});

const Note = Type.String({ minLength: 1, maxLength: 500 });

export const paymentsEndpoints = {
  'GET /operator/payments': endpoint({
    access: 'operator',
    summary: 'List payments that were not credited automatically',
    note: 'Returns the last hundred payments, waiting ones first.',
    output: closed({ is_configured: Type.Boolean(), data: Type.Array(OperatorPayment) }),
  }),
  'GET /operator/payments/all': endpoint({
    access: 'operator',
    summary: 'List all payments',
    note: 'Newest first. `search`: the id of a payment or of its account, or a part of the account’s name.',
    query: Type.Object({ search: Search }),
    page: closed({
      ...OperatorPayment.properties,
      account_name: orNull(Type.String(), 'null: it belongs to no account.'),
      fee_micros: Type.Integer({ description: 'The part that was not credited.' }),
      returned_micros: Type.Integer(),
    }),
  }),
  'POST /operator/payments/:payment/assign': endpoint({
    access: 'operator',
    summary: 'Credit an account with a payment',
    note: 'Credits the account with what was paid, less what was refunded or disputed since.',
    body: Type.Object({ account: Type.String({ minLength: 1 }), note: Note }),
    output: OperatorPayment,
  }),
  'POST /operator/payments/:payment/dismiss': endpoint({
    access: 'operator',
    summary: 'Dismiss a payment',
    body: Type.Object({ note: Note }),
    output: OperatorPayment,
  }),
};
