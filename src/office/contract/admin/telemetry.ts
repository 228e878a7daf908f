// An account's export of its own traces.
import { Type } from 'typebox';
import { AccountTelemetry, TelemetryChange, TestOutcome } from '../telemetry.ts';
import { closed } from '../common.ts';
import { adminEndpoint } from './endpoint.ts';

export const telemetryEndpoints = {
  'GET /accounts/:account/telemetry': adminEndpoint({
    scope: 'accounts:read',
    summary: 'Get the export of traces of an account',
    output: AccountTelemetry,
  }),
  'PATCH /accounts/:account/telemetry': adminEndpoint({
    scope: 'accounts:write',
    summary: 'Change the export of traces of an account',
    note: 'A field that is left out stays as it is. Another address or other headers switch `include_content` off, which only an owner of the account can switch on.',
    body: closed({
      ...TelemetryChange,
      include_content: Type.Optional(
        Type.Literal(false, { description: 'Stops the export of prompts and answers.' }),
      ),
    }),
    output: AccountTelemetry,
  }),
  'POST /accounts/:account/telemetry/test': adminEndpoint({
    scope: 'accounts:write',
    summary: 'Send a test span of an account',
    output: TestOutcome,
  }),
};
