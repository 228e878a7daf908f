// An account's balance, payments and warnings.
import { Type, type Static } from 'typebox';
import { closed, orNull, Mode, ModeFilter, UtcDay } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

const BillingOverview = closed({
  posted_micros: Type.Integer(),
  held_micros: Type.Integer({ description: 'By running requests.' }),
  available_micros: Type.Integer(),
  top_up: orNull(
    closed({
      min_micros: Type.Integer(),
      max_micros: Type.Integer(),
      choices_micros: Type.Array(Type.Integer()),
      /**
       * Paid on top of the credit: so many millionths of it, rounded up to a whole cent, and a
       * fixed part.
       */
      fee: closed({ ppm: Type.Integer(), fixed_micros: Type.Integer() }),
    }),
    'How owners pay in by card; null: not here. Only the live balance is paid into.',
  ),
  contact: orNull(Type.String()),
  runway: orNull(
    closed({
      days_left: Type.Integer({ description: 'Whole days that the available balance lasts.' }),
      daily_micros: Type.Integer({ description: 'The average spend of a day.' }),
      days: Type.Integer({ description: 'The number of days that it is the average of.' }),
    }),
    'At the average spend of the last seven complete UTC days, from the first charge in them on. null: nothing was spent.',
  ),
  low_balance: closed({
    thresholds_micros: Type.Array(Type.Integer()),
    can_mail: Type.Boolean({ description: 'True when this gateway can send e-mail.' }),
  }),
});

const TopUp = closed({
  id: Type.String(),
  amount_micros: Type.Integer(),
  state: Type.Enum(['open', 'processing', 'failed', 'expired', 'paid']),
  created_at: Type.String(),
});

/** One line of an account's statement. All lines add up to the posted balance. */
export const StatementLine = Type.Union([
  closed({
    kind: Type.Enum(['credit', 'debit']),
    id: Type.String(),
    amount_micros: Type.Integer({ description: 'Below 0 for a debit.' }),
    note: orNull(Type.String()),
    available_micros: Type.Integer({ description: 'The spendable balance right after it.' }),
    created_at: Type.String(),
  }),
  closed({
    kind: Type.Literal('charges'),
    day: Type.String(),
    requests: Type.Integer(),
    amount_micros: Type.Integer(),
    balance_micros: Type.Integer(),
  }),
]);
export type StatementLine = Output<typeof StatementLine>;

const Only = Type.Optional(
  Type.Enum(['adjustments', 'charges'], {
    description: 'The credits and debits, or the days of charges. Default: all.',
  }),
);

/**
 * Created by the client, one for each action. Repeated calls with the same value act once. Admin keys
 * send an `Idempotency-Key` instead.
 */
export const RequestId = Type.String({ pattern: '^[A-Za-z0-9_-]{8,64}$' });

/** At most a billion dollars; more is a typing error. */
export const Amount = Type.Integer({ minimum: 1, maximum: 1e15 });

/** UTC days, both inclusive; without them, everything until today. */
const StatementFileQuery = Type.Object({
  mode: Mode,
  from: Type.Optional(UtcDay),
  to: Type.Optional(UtcDay),
});
export type StatementFileQuery = Static<typeof StatementFileQuery>;

const adjustment = {
  kind: Type.Enum(['credit', 'debit']),
  mode: Mode,
  amount_micros: Amount,
  note: Type.String({
    minLength: 1,
    maxLength: 500,
    description: "The line's text in the statement, such as the number of an order.",
  }),
};

export const billingEndpoints = {
  'GET /accounts/:account/billing': endpoint({
    access: 'viewer',
    summary: 'Get the balance and how to pay in',
    query: Type.Object({ mode: Mode }),
    output: BillingOverview,
  }),
  'GET /accounts/:account/statement': endpoint({
    access: 'viewer',
    operator: true,
    scope: 'reports:read',
    summary: 'List the statement of an account',
    note: 'Newest first. The lines add up to the posted balance.',
    query: Type.Object({ mode: ModeFilter, only: Only }),
    page: StatementLine,
  }),
  'GET /accounts/:account/statement.csv': endpoint({
    access: 'viewer',
    operator: true,
    summary: 'Export the statement of a range of days',
    query: StatementFileQuery,
    file: 'text/csv',
  }),
  'GET /accounts/:account/receipt.pdf': endpoint({
    access: 'viewer',
    summary: 'Get the receipt of a live credit',
    note: '`entry`: the id of a credit in the statement.',
    query: Type.Object({ entry: Type.String({ minLength: 1, maxLength: 300 }) }),
    file: 'application/pdf',
  }),
  'POST /operator/accounts/:account/adjustments': endpoint({
    access: 'operator',
    scope: 'credits:write',
    commands: ['accounts credit', 'accounts debit'],
    summary: 'Credit or debit an account',
    note: 'A debit may take the balance below zero. 409: the balance would be beyond $9 billion. A credit or debit is booked once under its `Idempotency-Key`, also after the day that answers are kept.',
    idempotency: 'required',
    body: Type.Object({ request_id: RequestId, ...adjustment }),
    inDashboard: ['request_id'],
    output: closed({
      entry_id: Type.String(),
      account_id: Type.String(),
      ...adjustment,
      available_micros: Type.Integer({ description: 'Right after it.' }),
    }),
  }),
  'POST /admin/v1/accounts/:account/forgive-losses': endpoint({
    scope: 'credits:write',
    commands: ['accounts update'],
    summary: 'Forgive the losses of an account',
    note: 'Its losses until now no longer count against its loss budget. A request that is repeated under its `Idempotency-Key` does not forgive later losses.',
    idempotency: 'required',
    output: closed({ forgiven_loss_micros: Type.Integer() }),
  }),
  'POST /accounts/:account/top-ups': endpoint({
    access: 'owner',
    summary: 'Start a payment by card',
    note: 'Leads to Stripe; the customer comes back to `/billing?account=…&top_up=…`. Whole cents.',
    body: Type.Object({ request_id: RequestId, amount_micros: Amount }),
    output: closed({ id: Type.String(), checkout_url: Type.String() }),
  }),
  'GET /accounts/:account/top-ups/:topUp': endpoint({
    access: 'viewer',
    summary: 'Get a payment by card',
    output: TopUp,
  }),
  'PATCH /accounts/:account/low-balance': endpoint({
    access: 'owner',
    summary: 'Set the warnings of a low balance',
    note: 'The event `balance.low` goes to the endpoints of the account. With the first amount, its owners also get it by e-mail.',
    body: Type.Object({
      thresholds_micros: Type.Array(Amount, { maxItems: 5, uniqueItems: true }),
    }),
    output: closed({
      thresholds_micros: Type.Array(Type.Integer(), { description: 'As they were sent.' }),
    }),
  }),
};
