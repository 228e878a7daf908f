// The budgets of an account's members, and the keys that count in them.
import { Type } from 'typebox';
import { closed, Done, orNull } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';
import { Key, KeySpend } from './keys.ts';

/** At most a billion dollars; null: no budget. */
export const Most = Type.Union([Type.Integer({ minimum: 0, maximum: 1e15 }), Type.Null()]);

export const Budget = closed({
  user_id: Type.String(),
  daily_micros: orNull(Type.Integer(), 'null: no budget; 0: nothing is allowed.'),
  monthly_micros: orNull(Type.Integer()),
  today: KeySpend,
  this_month: KeySpend,
});
export type Budget = Output<typeof Budget>;

/** null: nobody. */
export const KeyOwner = closed({
  user_id: Type.Union([Type.String({ maxLength: 100 }), Type.Null()]),
});

export const budgetsEndpoints = {
  'GET /accounts/:account/budgets': endpoint({
    access: 'viewer',
    summary: 'List the budgets of members',
    note: 'With what their live keys have spent. A budget stays when its user leaves, because the keys stay.',
    output: closed({ data: Type.Array(Budget) }),
  }),
  'PATCH /accounts/:account/members/:user/budget': endpoint({
    access: 'owner',
    summary: 'Set the budget of a member',
    note: 'All keys of the member share it: live keys and test keys separately.',
    body: Type.Object(
      { daily_micros: Most, monthly_micros: Most },
      { additionalProperties: false },
    ),
    output: Done,
  }),
  'PATCH /accounts/:account/keys/:key/owner': endpoint({
    access: 'owner',
    summary: 'Give a key to a member',
    note: 'null: it belongs to nobody, and counts in no budget.',
    body: KeyOwner,
    output: Key,
  }),
};
