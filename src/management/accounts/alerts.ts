// Endpoints and deliveries of alerts, of an account or of the operators.
import { listDeliveries } from '../../domain/alerts/outbox.ts';
import { listEndpoints, type Owner } from '../../domain/alerts/endpoints.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import {
  alertEvents,
  type AlertType,
  operatorsPlace,
  typesHeardBy,
  wordsOf,
} from '../../terms/alert-events.ts';
import {
  changeAlertEndpoint,
  createAlertEndpoint,
  removeAlertEndpoint,
  replaceAlertSecret,
  sendAlertAgain,
  sendTestAlert,
} from '../changes/alert-endpoints.ts';
import type { ManagementContext } from '../context.ts';
import type { alertsEndpoints } from '../contract/alerts.ts';
import type { Caller, Handlers } from '../handlers.ts';

export const alertsHandlers: Handlers<typeof alertsEndpoints> = {
  'GET /accounts/:account/alert-endpoints': async ({ context, ...call }) => {
    const owner = ownerOf(call);
    const types = typesHeardBy(owner === null ? 'operators' : 'accounts');
    return {
      endpoints: await listEndpoints(context.database.read, owner),
      types: types.map((type) => ({ type, when: alertEvents[type].when })),
      can_mail: context.alerts.channels.canMail,
    };
  },

  'POST /accounts/:account/alert-endpoints': ({ context, body, changes, ...call }) => {
    const { kind, address, types = null } = body;
    const parts = { secrets: context.secrets, channels: context.alerts.channels };
    const order = { owner: ownerOf(call), kind, address, types };
    return createAlertEndpoint(changes, parts, order);
  },

  'PATCH /accounts/:account/alert-endpoints/:endpoint': ({ params, body, changes, session }) => {
    const place = { owner: ownerOf({ params, session }), id: params.endpoint };
    const { types, enabled: isEnabled } = body;
    return changeAlertEndpoint(changes, place, { types, isEnabled });
  },

  'DELETE /accounts/:account/alert-endpoints/:endpoint': ({ changes, ...call }) =>
    removeAlertEndpoint(changes, { owner: ownerOf(call), id: call.params.endpoint }),

  'POST /accounts/:account/alert-endpoints/:endpoint/secret': ({ context, changes, ...call }) =>
    replaceAlertSecret(changes, context, { owner: ownerOf(call), id: call.params.endpoint }),

  'POST /accounts/:account/alert-endpoints/:endpoint/test': async ({ changes, ...call }) => {
    await limitMessages(call);
    await sendTestAlert(changes, { owner: ownerOf(call), id: call.params.endpoint });
    call.context.alerts.wake();
  },

  'GET /accounts/:account/alert-deliveries': async ({ context, page, ...call }) => {
    const found = await listDeliveries(context.database.read, ownerOf(call), page);
    const rows = found?.rows.map(({ type: name, data, disabled_at_ms: disabledAtMs, ...row }) => {
      const type = name as AlertType;
      const { id, event_id, endpoint_id, attempts, problem } = row;
      const { sentence } = wordsOf(type, JSON.parse(data));
      return {
        id,
        event_id,
        endpoint_id,
        type,
        sentence,
        attempts,
        problem,
        created_at: new Date(row.created_at_ms).toISOString(),
        tried_at: isoTimeOf(row.tried_at_ms),
        delivered_at: isoTimeOf(row.delivered_at_ms),
        next_at: isoTimeOf(disabledAtMs === null ? row.next_at_ms : null),
      };
    });
    return found && { rows: rows!, next: found.next };
  },

  'POST /accounts/:account/alert-deliveries/:delivery/again': async ({ changes, ...call }) => {
    await limitMessages(call);
    await sendAlertAgain(changes, { owner: ownerOf(call), id: call.params.delivery });
    call.context.alerts.wake();
  },
};

/** They go to receivers and mailboxes of others. Throws ApiError 429. */
async function limitMessages({
  context,
  account,
}: Pick<Caller, 'account'> & { readonly context: ManagementContext }): Promise<void> {
  if (account) await context.users.attempts.takeAgainst({ kind: 'alert', of: account.accountId });
}

/** Members and admin keys have no account of this name. */
function ownerOf({
  params: { account },
  session,
}: Pick<Caller, 'session'> & { readonly params: { readonly account: string } }): Owner {
  return account === operatorsPlace && session?.isOperator === true ? null : account;
}
