// Where an account's owners and operators are told of events, and what became of each.
import { type TObject, Type } from 'typebox';
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
  address: Type.String({
    description: 'Without what is secret in it. E-mail: `owners` is every owner of the account.',
  }),
  types: Types,
  is_private: Type.Boolean({ description: "It may lead into the operator's own network." }),
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

const NewEndpoint = {
  kind: Kind,
  address: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description:
      'A web address with https://. E-mail: the address of a user of the account, or `owners`.',
  }),
  types: Type.Optional(Types),
};

const Made = closed({
  endpoint: AlertEndpoint,
  secret: orNull(Type.String(), 'Signs webhooks. It is shown this once. null: no webhook.'),
});

const access = { access: 'owner', scope: 'accounts:write' } as const;
const reading = { access: 'owner', scope: 'accounts:read' } as const;
const Change = Type.Object({
  types: Type.Optional(Types),
  enabled: Type.Optional(Type.Boolean()),
});
const Secret = closed({
  secret: Type.String({ description: 'Signs webhooks. It is shown this once.' }),
});
const rotated = 'The secret before signs beside it for 24 hours.';
const again = 'Under the same id.';

function made<Body extends TObject>(body: Body) {
  return { confirmed: true, body, output: Made } as const;
}

export const alertsEndpoints = {
  'GET /accounts/:account/alert-endpoints': endpoint({
    ...reading,
    summary: 'List the endpoints of alerts of an account',
    output: AlertEndpoints,
  }),
  'POST /accounts/:account/alert-endpoints': endpoint({
    ...access,
    ...made(Type.Object(NewEndpoint)),
    summary: 'Add an endpoint of alerts',
    note: 'At most 10. docs/webhooks.md lists the events.',
  }),
  'PATCH /accounts/:account/alert-endpoints/:endpoint': endpoint({
    ...access,
    summary: 'Change an endpoint of alerts',
    note: 'A field that is left out stays as it is.',
    body: Change,
    output: AlertEndpoint,
  }),
  'DELETE /accounts/:account/alert-endpoints/:endpoint': endpoint({
    ...access,
    summary: 'Remove an endpoint of alerts',
    output: Done,
  }),
  'POST /accounts/:account/alert-endpoints/:endpoint/secret': endpoint({
    ...access,
    confirmed: true,
    summary: "Replace a webhook's secret",
    note: rotated,
    output: Secret,
  }),
  'POST /accounts/:account/alert-endpoints/:endpoint/test': endpoint({
    ...access,
    summary: 'Send a test event',
    output: Done,
  }),
  'GET /accounts/:account/alert-deliveries': endpoint({
    ...reading,
    summary: 'List the deliveries of alerts of an account',
    note: 'Newest first, of the last 60 days.',
    page: AlertDelivery,
  }),
  'POST /accounts/:account/alert-deliveries/:delivery/again': endpoint({
    ...access,
    summary: 'Send a delivery again',
    note: again,
    output: Done,
  }),
  'GET /operator/alert-endpoints': endpoint({
    access: 'operator',
    summary: "List the operators' endpoints of alerts",
    output: AlertEndpoints,
  }),
  'POST /operator/alert-endpoints': endpoint({
    access: 'operator',
    ...made(
      Type.Object({
        ...NewEndpoint,
        is_private: Type.Optional(
          Type.Boolean({
            description: "The address may lead into the operator's own network, also without TLS.",
          }),
        ),
      }),
    ),
    summary: "Add an operators' endpoint of alerts",
  }),
  'PATCH /operator/alert-endpoints/:endpoint': endpoint({
    access: 'operator',
    summary: "Change an operators' endpoint of alerts",
    body: Change,
    output: AlertEndpoint,
  }),
  'DELETE /operator/alert-endpoints/:endpoint': endpoint({
    access: 'operator',
    summary: "Remove an operators' endpoint of alerts",
    output: Done,
  }),
  'POST /operator/alert-endpoints/:endpoint/secret': endpoint({
    access: 'operator',
    confirmed: true,
    summary: "Replace the secret of an operators' webhook",
    note: rotated,
    output: Secret,
  }),
  'POST /operator/alert-endpoints/:endpoint/test': endpoint({
    access: 'operator',
    summary: "Send a test event to an operators' endpoint",
    output: Done,
  }),
  'GET /operator/alert-deliveries': endpoint({
    access: 'operator',
    summary: "List the deliveries of the operators' alerts",
    note: 'Newest first, of the last 60 days.',
    page: AlertDelivery,
  }),
  'POST /operator/alert-deliveries/:delivery/again': endpoint({
    access: 'operator',
    summary: "Send a delivery of the operators' alerts again",
    note: again,
    output: Done,
  }),
};
