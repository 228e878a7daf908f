// Endpoints and deliveries of alerts: the same calls for an account's owners and for operators.
import { listDeliveries } from '../../domain/alerts/outbox.ts';
import { listEndpoints, type Owner } from '../../domain/alerts/endpoints.ts';
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';
import { alertEvents, type AlertType, typesHeardBy, wordsOf } from '../../terms/alert-events.ts';
import {
  changeAlertEndpoint,
  createAlertEndpoint,
  removeAlertEndpoint,
  rotateAlertSecret,
  sendAlertAgain,
  sendTestAlert,
} from '../changes/alert-endpoints.ts';
import type { ManagementContext } from '../context.ts';
import type { alertsEndpoints } from '../contract/alerts.ts';
import type { BodyOf } from '../contract/endpoint.ts';
import type { Handlers } from '../handlers.ts';
import type { Place } from '../paging.ts';

type Table = typeof alertsEndpoints;

export const alertsHandlers: Handlers<Table> = {
  'GET /accounts/:account/alert-endpoints': ({ context, params }) => list(context, params.account),
  'POST /accounts/:account/alert-endpoints': (call) => create(call, call.params.account),
  'PATCH /accounts/:account/alert-endpoints/:endpoint': (call) => change(call),
  'DELETE /accounts/:account/alert-endpoints/:endpoint': (call) => remove(call),
  'POST /accounts/:account/alert-endpoints/:endpoint/secret': (call) => rotate(call),
  'POST /accounts/:account/alert-endpoints/:endpoint/test': (call) => sendTest(call),
  'GET /accounts/:account/alert-deliveries': ({ context, params, page }) =>
    deliveries(context, params.account, page),
  'POST /accounts/:account/alert-deliveries/:delivery/again': (call) => resend(call),
  'GET /operator/alert-endpoints': ({ context }) => list(context, null),
  'POST /operator/alert-endpoints': (call) => create(call, null, call.body.is_private),
  'PATCH /operator/alert-endpoints/:endpoint': (call) => change(call),
  'DELETE /operator/alert-endpoints/:endpoint': (call) => remove(call),
  'POST /operator/alert-endpoints/:endpoint/secret': (call) => rotate(call),
  'POST /operator/alert-endpoints/:endpoint/test': (call) => sendTest(call),
  'GET /operator/alert-deliveries': ({ context, page }) => deliveries(context, null, page),
  'POST /operator/alert-deliveries/:delivery/again': (call) => resend(call),
};

type Changing = { readonly context: ManagementContext; readonly changes: AuditedChanges };
type OfEndpoint = Changing & {
  readonly params: { readonly account?: string; readonly endpoint: string };
};

async function list({ database, alerts }: ManagementContext, owner: Owner) {
  const types = typesHeardBy(owner === null ? 'operators' : 'accounts');
  return {
    endpoints: await listEndpoints(database.read, owner),
    types: types.map((type) => ({ type, when: alertEvents[type].when })),
    can_mail: alerts.channels.canMail,
  };
}

function create(
  call: Changing & { readonly body: BodyOf<Table['POST /accounts/:account/alert-endpoints']> },
  owner: Owner,
  isPrivate = false,
) {
  const { context, changes, body } = call;
  const { kind, address, types = null } = body;
  const parts = { secrets: context.secrets, channels: context.alerts.channels };
  return createAlertEndpoint(changes, parts, { owner, kind, address, types, isPrivate });
}

function placeOf({ params }: OfEndpoint) {
  return { owner: params.account ?? null, id: params.endpoint };
}

function change(
  call: OfEndpoint & {
    readonly body: BodyOf<Table['PATCH /operator/alert-endpoints/:endpoint']>;
  },
) {
  const { types, enabled: isEnabled } = call.body;
  return changeAlertEndpoint(call.changes, placeOf(call), { types, isEnabled });
}

async function remove(call: OfEndpoint) {
  await removeAlertEndpoint(call.changes, placeOf(call));
  return { ok: true } as const;
}

async function rotate(call: OfEndpoint) {
  return { secret: await rotateAlertSecret(call.changes, call.context, placeOf(call)) };
}

async function sendTest(call: OfEndpoint) {
  await sendTestAlert(call.changes, placeOf(call));
  call.context.alerts.wake();
  return { ok: true } as const;
}

async function resend(
  call: Changing & { readonly params: { readonly account?: string; readonly delivery: string } },
) {
  const { account = null, delivery: id } = call.params;
  await sendAlertAgain(call.changes, { owner: account, id });
  call.context.alerts.wake();
  return { ok: true } as const;
}

async function deliveries({ database }: ManagementContext, owner: Owner, page: Place) {
  const found = await listDeliveries(database, owner, page);
  return (
    found && {
      rows: found.rows.map((row) => ({
        id: row.id,
        event_id: row.event_id,
        endpoint_id: row.endpoint_id,
        type: row.type as AlertType,
        sentence: wordsOf(row.type as AlertType, JSON.parse(row.data)).sentence,
        created_at: new Date(row.created_at_ms).toISOString(),
        attempts: row.attempts,
        tried_at: isoTimeOf(row.tried_at_ms),
        delivered_at: isoTimeOf(row.delivered_at_ms),
        next_at: isoTimeOf(row.disabled_at_ms === null ? row.next_at_ms : null),
        problem: row.problem,
      })),
      next: found.next,
    }
  );
}
