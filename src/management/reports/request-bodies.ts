// The kept bodies of a request, or the reason why there are none.
import type { noBodiesReasons, RequestBodies, RequestDetail } from '../contract/requests.ts';
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import { listChanges } from '../../domain/audit/audit-log.ts';
import { type KeptBody, readBodies } from '../../domain/bodies/read-bodies.ts';
import { findKey } from '../../domain/keys/list-keys.ts';
import type { ManagementContext } from '../context.ts';
import { dayMs } from '../../lib/utc-time.ts';

type Reason = (typeof noBodiesReasons)[number];
type Place = { readonly accountId: string; readonly request: RequestDetail };

export async function readRequestBodies(
  context: ManagementContext,
  { accountId, request }: Place,
): Promise<RequestBodies> {
  const { database, secrets, gateway } = context;
  if (!gateway.config.bodies.enabled) return noBodies('disabled');
  const nowMs = gateway.clock.nowMs();
  const place = { accountId, requestId: request.request_id, nowMs };
  const found = await readBodies(database.read, secrets, place);
  if (found === 'unreadable') return noBodies('unreadable');
  if (!found) return noBodies(await reasonOf(context, { accountId, request, nowMs }));
  return {
    kept: {
      request: found.request && shown(found.request),
      answer: found.answer && shown(found.answer),
      streamed: found.isStreamed,
      expires_at: new Date(found.expiresAtMs).toISOString(),
    },
    reason: null,
  };
}

function shown({ text, bytes, isCut }: KeptBody) {
  return { text, bytes, cut: isCut };
}

function noBodies(reason: Reason): RequestBodies {
  return { kept: null, reason };
}

async function reasonOf(
  { database, gateway }: ManagementContext,
  { accountId, request, nowMs }: Place & { readonly nowMs: number },
): Promise<Reason> {
  const [account] = await findAccounts(database.read, [accountId]);
  if (account?.retainResponses !== true) return 'account-off';
  const key = await findKey(database.read, { keyId: request.key.id, accountId });
  if (!key || key.body_days === null) return 'key-off';
  const sentMs = Date.parse(request.created_at);
  const days = Math.min(key.body_days, gateway.config.bodies.days_max);
  if (sentMs + days * dayMs <= nowMs) return 'expired';
  return (await wasErasedSince(database, accountId, sentMs)) ? 'erased' : 'not-kept';
}

async function wasErasedSince(
  database: ManagementContext['database'],
  accountId: string,
  sentMs: number,
): Promise<boolean> {
  const query = { accountId, subject: accountId, action: 'account.', limit: 50, cursor: null };
  const changes = await listChanges(database.read, query);
  return changes!.entries.some(
    ({ action, after, created_at }) =>
      Date.parse(created_at) >= sentMs &&
      (action === 'account.purge' || (action === 'account.update' && stopsStoring(after))),
  );
}

function stopsStoring(after: unknown): boolean {
  return (after as { readonly retain_responses?: boolean } | null)?.retain_responses === false;
}
