// An account's export of its own traces.
import { Type } from 'typebox';
import { closed, optional, orNull } from './common.ts';
import { endpoint, type Output } from './endpoint.ts';

export const AccountTelemetry = closed({
  endpoint: orNull(Type.String(), 'null: nothing is exported.'),
  header_names: Type.Array(Type.String()),
  sampling_ratio: Type.Number(),
  include_content: Type.Boolean(),
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
    scope: 'accounts:write',
    confirmed: true,
    summary: 'Change the export of traces of an account',
    note: 'A field that is left out stays as it is. Another address or other headers switch `include_content` off, which only an owner of the account can switch on.',
    body: Type.Object(
      optional({
        endpoint: orNull(Type.String({ maxLength: 2_000 })),
        headers: Type.Record(Type.String(), Type.String({ maxLength: 4_096 }), { writeOnly: true }),
        sampling_ratio: Type.Number({ minimum: 0, maximum: 1 }),
        include_content: Type.Boolean(),
      }),
    ),
    output: AccountTelemetry,
  }),
};
