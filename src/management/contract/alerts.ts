// Where an account's owners and operators are told of events, and what became of each.
import { Type } from 'typebox';
import { alertEvents, typesHeardBy } from '../../terms/alert-events.ts';
import { closed, Done, orNull } from './common.ts';
import { endpoint } from './endpoint.ts';

const Types = orNull(
  Type.Array(Type.Enum([...new Set([...typesHeardBy('accounts'), ...typesHeardBy('operators')])]), {
    minItems: 1,
    maxItems: 30,
    uniqueItems: true,
  }),
  'null: all.',
);

const Kind = Type.Enum(['webhook', 'email', 'slack'], {
  description: '`webhook`: Standard Webhooks. `slack`: the JSON of an incoming webhook of Slack.',
});

const AlertEndpoint = closed({
  id: Type.String(),
  kind: Kind,
  address: Type.String(),
  types: Types,
  created_at: Type.String(),
  disabled_at: orNull(Type.String(), 'null: it is switched on.'),
  disabled_reason: orNull(Type.String(), 'null: somebody switched it off.'),
});

const AlertEndpoints = closed({
  endpoints: Type.Array(AlertEndpoint, { description: 'The oldest first.' }),
  types: Type.Array(
    closed({ type: Type.String(), when: Type.String({ description: 'When it is sent.' }) }),
    { description: 'The types that can be chosen.' },
  ),
  can_mail: Type.Boolean({ description: 'True when this gateway can send e-mail.' }),
});

const AlertDelivery = closed({
  id: Type.String(),
  event_id: Type.String({ description: 'The `webhook-id` of each attempt.' }),
  endpoint_id: Type.String({ description: 'Where it goes.' }),
  type: Type.Enum(Object.keys(alertEvents)),
  sentence: Type.String({ description: 'The event in words.' }),
  created_at: Type.String({ description: 'When it happened.' }),
  attempts: Type.Integer({ description: 'Since it was first sent, or sent again.' }),
  tried_at: orNull(Type.String(), 'null: not yet.'),
  delivered_at: orNull(Type.String(), 'null: not yet.'),
  next_at: orNull(Type.String(), 'null: it is delivered, or given up.'),
  problem: orNull(Type.String(), 'Why the last attempt failed.'),
});

/** An operator's calls with the account `operators` are about the operators' own endpoints. */
const changing = { access: 'owner', operator: true, scope: 'accounts:write' } as const;
const reading = { access: 'owner', operator: true, scope: 'accounts:read' } as const;

export const alertsEndpoints = {
  'GET /accounts/:account/alert-endpoints': endpoint({
    ...reading,
    summary: 'List the endpoints of alerts',
    output: AlertEndpoints,
  }),
  'POST /accounts/:account/alert-endpoints': endpoint({
    ...changing,
    confirmed: true,
    summary: 'Add an endpoint of alerts',
    note: 'At most 10. `/docs/webhooks` lists the events.',
    body: Type.Object({
      kind: Kind,
      address: Type.String({ minLength: 1, maxLength: 2_000 }),
      types: Type.Optional(Types),
    }),
    output: closed({
      endpoint: AlertEndpoint,
      secret: orNull(Type.String(), 'Signs webhooks. It is shown this once. null: no webhook.'),
    }),
  }),
  'PATCH /accounts/:account/alert-endpoints/:endpoint': endpoint({
    ...changing,
    summary: 'Change an endpoint of alerts',
    note: 'A field that is left out stays as it is.',
    body: Type.Object({ types: Type.Optional(Types), enabled: Type.Optional(Type.Boolean()) }),
    output: AlertEndpoint,
  }),
  'DELETE /accounts/:account/alert-endpoints/:endpoint': endpoint({
    ...changing,
    summary: 'Remove an endpoint of alerts',
    output: Done,
  }),
  'POST /accounts/:account/alert-endpoints/:endpoint/secret': endpoint({
    ...changing,
    confirmed: true,
    summary: 'Replace the secret of a webhook',
    note: 'Until `earlier_until`, the secret before signs beside the new one.',
    output: closed({
      secret: Type.String({ description: 'It is shown this once.' }),
      earlier_until: Type.String({ description: 'A day later.' }),
    }),
  }),
  'POST /accounts/:account/alert-endpoints/:endpoint/test': endpoint({
    ...changing,
    summary: 'Send a test event',
    output: Done,
  }),
  'GET /accounts/:account/alert-deliveries': endpoint({
    ...reading,
    summary: 'List the deliveries of alerts',
    note: 'Newest first, of the last 60 days.',
    page: AlertDelivery,
  }),
  'POST /accounts/:account/alert-deliveries/:delivery/again': endpoint({
    ...changing,
    summary: 'Send a delivery again',
    note: 'Under the same id.',
    output: Done,
  }),
};
