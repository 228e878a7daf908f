// Top-ups that Tollgate starts by itself with a saved card.
import { Type } from 'typebox';
import { type CardProblem, cardProblems } from '../../terms/card-problem.ts';
import { Amount } from './billing.ts';
import { closed, Done, orNull } from './common.ts';
import { endpoint } from './endpoint.ts';

const problemOf = (description: string) =>
  Type.Enum(Object.keys(cardProblems) as CardProblem[], { description });
const Last4 = Type.String({ description: 'The last digits of its number.' });
const Since = Type.String({ description: 'When that happened.' });

const Settings = closed({
  threshold_micros: Amount,
  amount_micros: Type.Integer({ ...Amount, description: 'What is credited each time.' }),
  ceiling_micros: Amount,
});

const AutoTopUp = closed({
  is_available: Type.Boolean({ description: 'false: nobody pays by card here.' }),
  card: orNull(closed({ brand: Type.String({ description: '`visa`' }), last4: Last4 })),
  settings: orNull(Settings, 'null: it is off.'),
  paused: orNull(closed({ reason: problemOf('Why it failed.'), at: Since })),
  month_micros: Type.Integer(),
  last: orNull(
    closed({
      id: Type.String(),
      amount_micros: Type.Integer({ description: 'Of the credit.' }),
      state: Type.Enum(['open', 'processing', 'failed', 'paid']),
      problem: orNull(
        problemOf('Why it failed.'),
        'null: it has not failed, or an operator has dismissed its payment.',
      ),
      created_at: Type.String(),
    }),
    'The last automatic top-up; null: there was none.',
  ),
});

export const autoTopUpEndpoints = {
  'GET /accounts/:account/auto-top-up': endpoint({
    access: 'viewer',
    operator: true,
    scope: 'accounts:read',
    summary: 'Get the automatic top-up of an account',
    output: AutoTopUp,
  }),
  'PATCH /accounts/:account/auto-top-up': endpoint({
    access: 'owner',
    confirmed: 'when-judged',
    summary: 'Turn the automatic top-up on or off',
    note: 'Needs a saved card. Ends a pause. Must be confirmed when the card may be charged more than before, or again after a pause.',
    body: Type.Object({ settings: orNull(Settings, 'null: off.') }),
    output: AutoTopUp,
  }),
  'POST /accounts/:account/auto-top-up/card': endpoint({
    access: 'owner',
    summary: 'Start to save a card',
    note: 'Leads to Stripe, where nothing is paid; the customer comes back to `/billing?account=…`. The card replaces the one saved before, and ends a pause.',
    output: closed({ checkout_url: Type.String() }),
  }),
  'DELETE /accounts/:account/auto-top-up/card': endpoint({
    access: 'owner',
    summary: 'Remove the saved card',
    note: 'Also turns the automatic top-up off. A charge that Stripe was asked for already may still be made, and is credited.',
    output: Done,
  }),
};
