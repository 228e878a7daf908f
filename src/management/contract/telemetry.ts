// An account's export of its own traces.
import { Type } from 'typebox';
import { closed, Done, optional, orNull } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

const TelemetryChange = optional({
  endpoint: orNull(Type.String({ maxLength: 2_000 })),
  headers: Type.Record(Type.String(), Type.String({ maxLength: 4_096 }), { writeOnly: true }),
  sampling_ratio: Type.Number({ minimum: 0, maximum: 1 }),
});

const IncludeContent = Type.Boolean();

export const AccountTelemetry = closed({
  endpoint: orNull(Type.String(), 'null: nothing is exported.'),
  header_names: Type.Array(Type.String()),
  sampling_ratio: Type.Number(),
  include_content: IncludeContent,
  sent_spans: Type.Integer({ description: 'Since the address was set.' }),
  dropped_spans: Type.Integer(),
  last_success_at: orNull(Type.String(), 'null: none yet.'),
  last_problem: orNull(Type.String(), 'Why an export failed last.'),
  last_problem_at: orNull(Type.String()),
});
export type AccountTelemetry = Output<typeof AccountTelemetry>;

export const telemetryEndpoints = {
  'GET /accounts/:account/telemetry': endpoint({
    access: 'admin',
    scope: 'accounts:read',
    summary: 'Get the export of traces of an account',
    output: AccountTelemetry,
  }),
  'PATCH /accounts/:account/telemetry': endpoint({
    access: 'admin',
    confirmed: true,
    summary: 'Change the export of traces',
    note: 'A field that is left out stays as it is.',
    body: Type.Object({ ...TelemetryChange, include_content: Type.Optional(IncludeContent) }),
    output: Done,
  }),
  'PATCH /admin/v1/accounts/:account/telemetry': endpoint({
    scope: 'accounts:write',
    summary: 'Change the export of traces of an account',
    note: 'A field that is left out stays as it is. Another address or other headers switch `include_content` off, which only an owner of the account can switch on.',
    body: Type.Object({
      ...TelemetryChange,
      include_content: Type.Optional(
        Type.Literal(false, { description: 'Stops the export of prompts and answers.' }),
      ),
    }),
    output: AccountTelemetry,
  }),
};
