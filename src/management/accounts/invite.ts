// Invites people to accounts. The mail is sent after the commit, outside of the transaction. So a
// crash or a failing mail server leaves an invitation without its mail; a request that is repeated
// under its Idempotency-Key then sends it.
import type { Role } from '../../db/schema.ts';
import { listInvitations } from '../../domain/users/invitations.ts';
import type { Mail } from '../../domain/users/mail.ts';
import { invitationMail } from '../../domain/users/messages.ts';
import { inviteMember } from '../changes/members.ts';
import type { ManagementContext } from '../context.ts';
import type { NewInvitation } from '../contract/members.ts';
import { linkTo } from '../sign-in/links.ts';
import type { Once, Scope } from '../once.ts';

/** A repeated request sends no second mail while the first is probably under way. */
const sendAgainAfterMs = 60_000;

type InviteCall = { readonly context: ManagementContext; readonly once: Once };

type Order = {
  readonly accountId: string;
  /** Already checked. */
  readonly email: string;
  readonly role: Role;
  /** `userId`: null when no user invites. `name`: as the e-mail shows it. */
  readonly by: { readonly userId: string | null; readonly name: string };
  /** Absent when an operator invites. */
  readonly inviterRole?: Role;
};

/** The kept answer. */
type Kept = {
  readonly shown: NewInvitation;
  /** null: the mail server has it, or there is none to send. */
  readonly unsent: { readonly mail: Mail; readonly triedAtMs: number } | null;
};

/** Throws ApiError 403, 404, 409, 422. */
export async function invite(call: InviteCall, order: Order): Promise<NewInvitation> {
  const { once } = call;
  const kept = await once.inTransaction<Kept>((scope) => makeInvitation(scope, order));
  if (once.isRepeated) await sendAgain(call, order.accountId, kept);
  else send(call, kept);
  return kept.shown;
}

/** The inviter is shown another link than is mailed, which proves nothing about the address. */
async function makeInvitation({ context, changes }: Scope, order: Order): Promise<Kept> {
  const { accountId, email, role, by, inviterRole } = order;
  const mailed = context.users.mailer !== null;
  const invitation = { accountId, email, role, invitedBy: by.userId, inviterRole, mailed };
  const { id, accountName, token, mailedToken } = await inviteMember(changes, invitation);
  const shown = { id, link: linkTo(context, '/invitation', token), mailed: mailedToken !== null };
  if (mailedToken === null) return { shown, unsent: null };
  const link = linkTo(context, '/invitation', mailedToken);
  const text = invitationMail({ accountName, invitedBy: by.name, role, link });
  const triedAtMs = changes.clock.nowMs();
  return { shown, unsent: { mail: { to: email, ...text }, triedAtMs } };
}

async function sendAgain(call: InviteCall, accountId: string, kept: Kept): Promise<void> {
  const { context, once } = call;
  const nowMs = context.gateway.clock.nowMs();
  if (!kept.unsent || nowMs < kept.unsent.triedAtMs + sendAgainAfterMs) return;
  const open = await listInvitations(context.database.read, accountId, nowMs);
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
