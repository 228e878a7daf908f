// Invites people to accounts. The mail is sent after the commit, outside of the transaction. So a
// crash or a failing mail server leaves an invitation without its mail; a request that is repeated
// under its Idempotency-Key then sends it.
import type { DashboardContext } from '../context.ts';
import { makeInvitation } from '../settings.ts';
import { checkEmail } from '../sign-in-fields.ts';
import type { Role } from '../../db/schema.ts';
import { listInvitations } from '../../domain/users/invitations.ts';
import type { Mail } from '../../domain/users/mail.ts';
import type { Once } from './once.ts';

/** A repeated request sends no second mail while the first is probably under way. */
const sendAgainAfterMs = 60_000;

type InviteCall = {
  readonly context: DashboardContext;
  readonly once: Once;
  /** The client's IP address. */
  readonly address: string;
};

type Order = { readonly accountId: string; readonly email: string; readonly role: Role };

type Made = Awaited<ReturnType<typeof makeInvitation>>['shown'];

/** The kept answer. */
type Kept = {
  readonly shown: Made;
  /** null: the mail server has it, or there is none to send. */
  readonly unsent: { readonly mail: Mail; readonly triedAtMs: number } | null;
};

/** Throws ApiError 400, 404, 409, 422, or 429 like the dashboard. */
export async function invite(call: InviteCall, order: Order): Promise<Made> {
  const { context, once, address } = call;
  const { clock, config } = context.gateway;
  const { accountId, role } = order;
  const email = checkEmail(order.email);
  await context.users.attempts.take(address, { kind: 'invitation', of: `${accountId} ${email}` });
  const by = { userId: null, name: config.service.name };
  const kept = await once.inTransaction<Kept>(async (scope) => {
    const { shown, mail } = await makeInvitation(scope, { accountId, email, role, by });
    return { shown, unsent: mail && { mail, triedAtMs: clock.nowMs() } };
  });
  if (once.isRepeated) await sendAgain(call, accountId, kept);
  else send(call, kept);
  return kept.shown;
}

async function sendAgain(call: InviteCall, accountId: string, kept: Kept): Promise<void> {
  const { context, once } = call;
  const nowMs = context.gateway.clock.nowMs();
  if (!kept.unsent || nowMs < kept.unsent.triedAtMs + sendAgainAfterMs) return;
  const open = await listInvitations(context.database, accountId, nowMs);
  if (!open.some(({ id }) => id === kept.shown.id)) return;
  const tried = { ...kept, unsent: { ...kept.unsent, triedAtMs: nowMs } };
  await once.keepInstead(tried);
  send(call, tried);
}

/** Does not wait: a mail server can take seconds. */
function send({ context, once }: InviteCall, { shown, unsent }: Kept): void {
  const { users, gateway } = context;
  if (!users.mailer || !unsent) return;
  users.mailer
    .send(unsent.mail)
    .then(() => once.keepInstead({ shown, unsent: null }))
    .catch((err: unknown) =>
      gateway.log.error({ err, invitationId: shown.id }, 'the mail of an invitation was not sent'),
    );
}
