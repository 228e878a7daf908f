// The door of the dashboard's API, which a session opens. Each call takes the same steps: origin,
// session, access, validation, confirmation, handler.
import { operatorsPlace } from '../terms/alert-events.ts';
import type { FastifyInstance, FastifyRequest, FastifyReply } from 'fastify';
import { AuditedChanges } from '../domain/audit/audited-changes.ts';
import type { Session } from '../domain/users/session.ts';
import { dashboardApiPath } from '../server/context.ts';
import { checkContentType } from '../server/middleware/body.ts';
import { admitCaller, checkOrigin } from './access.ts';
import { checkConfirmation } from './sign-in/confirmation.ts';
import { requireAccount } from './changes/accounts.ts';
import type { DoorContext } from './context.ts';
import { bodySchemaOf } from './contract/common.ts';
import { dashboardCalls } from './contract/contract.ts';
import type { SessionEndpoint } from './contract/doors.ts';
import { type Asked, type Caller, type Door, splitName } from './handlers.ts';
import { Once } from './once.ts';
import { sessionPaging } from './paging.ts';
import { bodyReader, queryReader } from './read-input.ts';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { acceptedEncoding } from '../server/built-files.ts';

export function openSessionDoor(app: FastifyInstance, context: DoorContext): Door {
  app.decorateRequest('caller', null);
  const calls = Object.entries(dashboardCalls).map(([name, endpoint]) => {
    const { method, path } = splitName(name);
    return {
      method,
      url: dashboardApiPath + path,
      declared: endpoint.declared,
      onRequest: [
        ...(method === 'GET' ? [] : [checkOrigin(context), checkContentType]),
        admitCaller(context, endpoint.access),
      ],
      ...(endpoint.file === undefined && { onSend: compressJson }),
      readQuery: queryReader(endpoint.query),
      readBody: bodyReader(bodySchemaOf(endpoint)),
      enter: (asked: Asked) => enter(context, endpoint, asked),
    };
  });
  return { paging: sessionPaging, calls };
}

async function enter(
  context: DoorContext,
  { access, confirmed, noted }: SessionEndpoint,
  { request, reply, body }: Asked,
): Promise<Caller> {
  const { session, account } = request.caller!;
  // Operators are trusted, and their forms ask for a preview of each change. A session, not a user: a
  // thief of one must not keep the user from ending it.
  if (session && !session.isOperator && access !== 'public' && request.method !== 'GET')
    await context.users.attempts.takeAgainst({ kind: 'changes', of: session.id });
  const changes = new AuditedChanges({
    database: context.database,
    actorOf: (by) => actorOf(request, session ?? by),
    accountId: account?.accountId ?? null,
    clock: context.gateway.clock,
  });
  const confirm = () =>
    checkConfirmation(context, { session: session!, body: body as object, request, reply });
  if (confirmed === true) await confirm();
  // Before the answer: what is not recorded is not shown. Members read what is theirs.
  const { account: of, request: id } = request.params as { account?: string; request?: string };
  const isOfAccount = of !== undefined && of !== operatorsPlace;
  if (!account && isOfAccount && request.method === 'GET') {
    await requireAccount(context.database.read, of);
    if (noted) await changes.noteReading(of, noted === 'each' ? id! : null);
  }
  const once = new Once({ context, changes, named: null, body });
  return { session, account, changes, once, confirm };
}

function actorOf(request: FastifyRequest, user: Pick<Session, 'userId' | 'email'> | null) {
  const { userId: id, email: name } = user ?? { userId: 'nobody', email: 'not signed in' };
  return { kind: 'user', id, name, address: request.ip } as const;
}

// Compression can reveal a secret to somebody who sees the length of encrypted answers and can make
// a browser ask for his own text beside it (BREACH). Three rules prevent that:
// - Only successful answers to GET are compressed. Secrets (new keys, invitation links, set-up of
//   the second factor) are only in answers to changes, which other sites cannot send.
// - Errors are not: they repeat what was asked for.
// - A request that another site or a typed address caused is not, as far as the browser says so.
//   The session's cookie is `SameSite=Lax`, so other sites cannot ask without a visible navigation.

/** Smaller answers fit into one packet. */
const compressedFromBytes = 1_400;

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };
/** Good for answers that are sent once: higher levels cost more time than they save. */
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Fastify hook `onSend` for endpoints that answer in JSON. */
async function compressJson(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (request.method !== 'GET') return payload;
  reply.header('vary', 'accept-encoding, sec-fetch-site');
  if (typeof payload !== 'string' || payload.length < compressedFromBytes) return payload;
  if (reply.statusCode !== 200 || !isAskedByApp(request)) return payload;
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  if (encoding === null) return payload;
  const body = await compressors[encoding](payload, encoding === 'br' ? options : {});
  reply.header('content-encoding', encoding);
  reply.header('content-length', body.length);
  return body;
}

/** Browsers without the header rely on the cookie's `SameSite`. */
function isAskedByApp({ headers }: FastifyRequest): boolean {
  return (headers['sec-fetch-site'] ?? 'same-origin') === 'same-origin';
}
