// Payments by card, and what operators decide about those that were not credited automatically.
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

export const paymentsEndpoints = {
  'GET /operator/payments': endpoint({
    access: 'operator',
    summary: 'List payments',
    note: 'Newest first. `search`: the id of a payment or of its account, or a part of the account’s name.',
    query: Type.Object({
      search: Search,
      waiting: Type.Optional(
        Type.Boolean({ description: 'Only those that wait for an operator’s decision.' }),
      ),
    }),
    page: closed({
      ...OperatorPayment.properties,
      account_name: orNull(Type.String(), 'null: it belongs to no account.'),
      fee_micros: Type.Integer({ description: 'The part that was not credited.' }),
      returned_micros: Type.Integer(),
    }),
  }),
  'POST /operator/payments/:payment/decision': endpoint({
    access: 'operator',
    summary: 'Credit an account with a payment, or dismiss the payment',
    note: 'Credits the account with what was paid, less what was refunded or disputed since.',
    body: Type.Object({
      account: orNull(Type.String({ minLength: 1 }), 'null: the payment is dismissed.'),
      note: Type.String({ minLength: 1, maxLength: 500 }),
    }),
    output: OperatorPayment,
  }),
};
