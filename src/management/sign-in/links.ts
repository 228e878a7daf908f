// Dashboard links that carry a token. They start with the configured address, never the request's
// Host header: otherwise the sender of a request could direct the token to another site.
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import type { Mail } from '../../domain/users/mail.ts';
import { verifyMail } from '../../domain/users/messages.ts';
import { createLink } from '../../domain/users/one-time-link.ts';
import type { ManagementContext } from '../context.ts';

type LinkedPage = '/first-run' | '/reset-password' | '/verify-email' | '/invitation';

/** Example: `https://llm.example.com/invitation?token=…` */
export function linkTo(
  { users }: Pick<ManagementContext, 'users'>,
  page: LinkedPage,
  token: string,
): string {
  return `${users.publicUrl()}${page}?token=${token}`;
}

type Owner = { readonly userId: string; readonly email: string };

/** Returns the mail with a link that proves the address to be the user's. */
export async function makeProofMail(
  context: Pick<ManagementContext, 'users'>,
  { unrecorded, clock }: AuditedChanges,
  { userId, email }: Owner,
): Promise<Mail> {
  const link = { kind: 'verify-email', userId, email } as const;
  const token = await createLink(unrecorded.write, link, clock.nowMs());
  return { to: email, ...verifyMail(linkTo(context, '/verify-email', token)) };
}
