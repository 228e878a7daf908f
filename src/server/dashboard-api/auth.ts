// Signing in, up and out, and the links that lead there. What is answered to a stranger does not tell who is a user, wherever a mail server
// can tell the address's owner instead.
import { findFirstAccount } from '../../accounts/manage-accounts.ts';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { authEndpoints } from '../../dashboard-contract/auth.ts';
import { ProviderAway } from '../../users/authentication.ts';
import { createProofLink, proveEmail } from '../../users/email-proof.ts';
import { createFirstUser } from '../../users/first-run.ts';
import { acceptInvitation, findInvitation, type Acceptance } from '../../users/invitations.ts';
import { alreadyUserMail, emailChangedMail, passwordResetMail, verifyMail } from '../../users/messages.ts';
import { findLink } from '../../users/one-time-link.ts';
import { giveOwnAccount, payPromisedCredit } from '../../users/own-account.ts';
import { createResetLink, resetPassword } from '../../users/password-reset.ts';
import { findUser, insertUser, normalizeEmail } from '../../users/user-records.ts';
import type { Handler, ServerContext } from '../context.ts';
import { clientOf, setCookies } from './client.ts';
import { changed, type Handlers } from './handlers.ts';
import { linkTo } from './links.ts';
import { checkEmail, checkName, checkNewPassword, unlessBusy } from './sign-in-fields.ts';

const done = { ok: true } as const;

export const authHandlers: Handlers<typeof authEndpoints> = {
  'POST /auth/sign-in': async ({ context: { users }, body: { email, password }, request, reply }) => {
    const attempts = { kind: 'sign-in', of: normalizeEmail(email) } as const;
    await users.attempts.take(request.ip, attempts);
    const credentials = { email: normalizeEmail(email), password };
    const { result, cookies } = await unlessBusy(users.authentication.signIn(clientOf(request), credentials));
    if (result === 'wrong') throw new ApiError('sign_in_failed', 'The e-mail address or the password is wrong.');
    await users.attempts.forget(attempts);
    setCookies(reply, cookies);
    return changed({ next: result }, null);
  },

  'POST /auth/second-factor': async ({ context: { users }, body: { code, kind = 'totp' }, request, reply }) => {
    const client = clientOf(request);
    const userId = await users.authentication.findChallenged(client);
    if (userId === null) throw startAgain();
    const attempts = { kind: 'second-factor', of: userId } as const;
    await users.attempts.take(request.ip, attempts);
    const { result, cookies } = await users.authentication.giveSecondFactor(client, { kind, code: code.trim(), userId });
    setCookies(reply, cookies);
    if (result === 'over') throw startAgain();
    if (result === 'wrong') throw new ApiError('sign_in_failed', 'The code is wrong, or was used before.', { param: 'code' });
    await users.attempts.forget(attempts);
    return changed(done, null);
  },

  'POST /auth/sign-out': async ({ context: { users }, request, reply }) => {
    setCookies(reply, await users.authentication.signOut(clientOf(request)));
    return changed(done, null);
  },

  'POST /auth/sign-up': async ({ context, body, request, reply }) => {
    const { users, database, gateway } = context;
    if (!gateway.config.signup.open) throw new ApiError('not_permitted', 'Sign-up is closed here. Ask for an invitation.');
    const email = checkEmail(body.email);
    const name = checkName(body.name);
    await users.attempts.take(request.ip, { kind: 'sign-up', of: email });
    const passwordHash = await checkNewPassword(body.password, { email });
    const nowMs = gateway.clock.nowMs();
    const made = await database.write.transaction().execute(async (transaction) => {
      const id = await insertUser(transaction, { name, email, passwordHash, isEmailVerified: false }, nowMs);
      if (id === null) return null;
      const promisedMicros = Math.round(gateway.config.signup.initial_credit_usd * 1_000_000);
      const accountId = await giveOwnAccount(
        transaction,
        { id, name },
        { makeAccount: users.makeAccount, promisedMicros, nowMs },
      );
      return { id, accountId };
    });
    const change = made && {
      action: 'user.sign-up',
      subject: made.id,
      accountId: made.accountId,
      before: null,
      after: { name, email },
    };
    const by = made ? { userId: made.id, email } : undefined;
    if (users.mailer) {
      const mail = made
        ? verifyMail(linkTo(context, '/verify-email', await createProofLink(database, { userId: made.id, email }, nowMs)))
        : alreadyUserMail(`${users.publicUrl()}/sign-in`);
      users.mailer.sendLater({ to: email, ...mail });
      return changed({ next: 'check-email' }, change, by);
    }
    if (!made) throw new ApiError('conflict', 'This e-mail address has a sign-in already.', { param: 'email' });
    setCookies(reply, await users.authentication.startSession(clientOf(request), made.id));
    return changed({ next: 'done' }, change, by);
  },

  'POST /auth/link': async ({ context, body: { token }, request }) => {
    const { users, database, gateway } = context;
    users.attempts.takeFrom(request.ip);
    const link = await findLink(database, token, gateway.clock.nowMs());
    if (!link) throw deadLink();
    return changed({ kind: link.kind, email: link.email }, null);
  },

  'POST /auth/first-run': async ({ context, body: { token, ...given }, request, reply }) => {
    const { users, database, gateway } = context;
    users.attempts.takeFrom(request.ip);
    const email = checkEmail(given.email);
    const name = checkName(given.name);
    // Before the password is hashed: a link that is dead costs nothing.
    if ((await findLink(database, token, gateway.clock.nowMs()))?.kind !== 'first-run') throw deadLink();
    const passwordHash = await checkNewPassword(given.password, { email });
    const accountId = await findFirstAccount(database);
    if (accountId === null) throw new Error('an installation without an account cannot have a first user');
    const userId = await createFirstUser(
      database,
      { token, user: { name, email, passwordHash }, accountId },
      gateway.clock.nowMs(),
    );
    if (userId === null) throw deadLink();
    setCookies(reply, await users.authentication.startSession(clientOf(request), userId));
    const after = { name, email, is_operator: true, role: 'owner' };
    return changed(done, { action: 'user.first-run', subject: userId, accountId, before: null, after }, { userId, email });
  },

  'POST /auth/password-reset': async ({ context, body, request }) => {
    const { users } = context;
    const email = checkEmail(body.email);
    await users.attempts.take(request.ip, { kind: 'password-reset', of: email });
    // The link is made while the answer is on its way, so that its time tells nothing.
    if (users.mailer) void sendResetLink(context, email);
    return changed(done, null);
  },

  'POST /auth/password-reset/complete': async ({ context, body: { token, password }, request }) => {
    const { users, database, gateway } = context;
    users.attempts.takeFrom(request.ip);
    const link = await findLink(database, token, gateway.clock.nowMs());
    if (link?.kind !== 'password-reset') throw deadLink();
    const passwordHash = await checkNewPassword(password, { email: link.email });
    const userId = await resetPassword(database, { token, passwordHash }, gateway.clock.nowMs());
    if (userId === null) throw deadLink();
    const email = link.email ?? '';
    await users.attempts.forget({ kind: 'sign-in', of: email });
    return changed(done, { action: 'user.password-reset', subject: userId, before: null, after: null }, { userId, email });
  },

  'POST /auth/verify-email': async ({ context: { users, database, gateway }, body: { token }, request }) => {
    users.attempts.takeFrom(request.ip);
    const proven = await proveEmail(database, token, gateway.clock.nowMs());
    if (!proven) throw deadLink();
    const { userId, email, before } = proven;
    await payPromisedCredit(database, userId, { creditOnce: users.creditOnce, mustProveEmail: gateway.config.smtp !== null });
    if (before !== email) users.mailer?.sendLater({ to: before, ...emailChangedMail(email) });
    const change = { action: 'user.verify-email', subject: userId, before: { email: before }, after: { email } };
    return changed({ email }, change, { userId, email });
  },

  'POST /auth/verify-email/send': async ({ context, session, request }) => {
    const { users, database } = context;
    if (!users.mailer) throw new ApiError('conflict', 'E-mails cannot be sent from here. Ask the operator.');
    await users.attempts.take(request.ip, { kind: 'password-reset', of: session.email });
    const token = await createProofLink(
      database,
      { userId: session.userId, email: session.email },
      context.gateway.clock.nowMs(),
    );
    users.mailer.sendLater({ to: session.email, ...verifyMail(linkTo(context, '/verify-email', token)) });
    return changed(done, null);
  },

  'POST /auth/invitation': async ({ context, body: { token }, request }) => {
    const { users, database, gateway } = context;
    users.attempts.takeFrom(request.ip);
    const invitation = await findInvitation(database, token, gateway.clock.nowMs());
    if (!invitation) throw deadLink();
    const { accountName, role, email, invitedBy, isUser, expiresAtMs } = invitation;
    const expires_at = new Date(expiresAtMs).toISOString();
    return changed({ account_name: accountName, role, email, invited_by: invitedBy, is_user: isUser, expires_at }, null);
  },

  'POST /auth/invitation/accept': async ({ context, body: { token, name, password }, session, request, reply }) => {
    const { users, database } = context;
    users.attempts.takeFrom(request.ip);
    const invitation = await findInvitation(database, token, context.gateway.clock.nowMs());
    if (!invitation) throw deadLink();
    if (!session && invitation.isUser) throw signInFirst();
    if (!session && (name === undefined || password === undefined)) {
      throw invalidRequest(name === undefined ? 'name' : 'password', 'Choose a name and a password.');
    }
    const by = session ?? {
      name: checkName(name!),
      passwordHash: await checkNewPassword(password!, { email: invitation.email }),
    };
    const { accountId, userId, role } = acceptedOrThrow(
      await acceptInvitation(database, token, by, context.gateway.clock.nowMs()),
    );
    if (!session) setCookies(reply, await users.authentication.startSession(clientOf(request), userId));
    const { email } = invitation;
    const change = { action: 'member.join', subject: userId, accountId, before: null, after: { email, role } };
    return changed({ account_id: accountId }, change, { userId, email });
  },

  'POST /auth/oidc': async ({ context: { users, gateway }, body: { next = '/' }, request, reply }) => {
    if (!gateway.config.oidc) throw new ApiError('not_found', 'No provider is configured here to sign in through.');
    users.attempts.takeFrom(request.ip);
    const { result: url, cookies } = await whileProviderIsThere(
      users.authentication.startProvider(clientOf(request), ownPath(next)),
    );
    setCookies(reply, cookies);
    return changed({ url }, null);
  },
};

/** The browser comes back from the provider: it is sent on to the dashboard, signed in or not. */
export function finishProvider({ users, gateway }: ServerContext): Handler {
  return async (request, reply) => {
    if (!gateway.config.oidc) throw new ApiError('not_found', 'No provider is configured here to sign in through.');
    users.attempts.takeFrom(request.ip);
    const query = request.url.split('?')[1] ?? '';
    const { result: path, cookies } = await whileProviderIsThere(users.authentication.finishProvider(clientOf(request), query));
    setCookies(reply, cookies);
    return reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer').redirect(path, 303);
  };
}

async function sendResetLink(context: ServerContext, email: string): Promise<void> {
  const { users, database, gateway } = context;
  try {
    const user = await findUser(database, { email });
    if (!user) return;
    const token = await createResetLink(database, { user, mailed: true }, gateway.clock.nowMs());
    await users.mailer?.send({ to: email, ...passwordResetMail(linkTo(context, '/reset-password', token)) });
  } catch (err) {
    gateway.log.error({ err }, 'a link for a new password could not be sent');
  }
}

function acceptedOrThrow(acceptance: Acceptance): Extract<Acceptance, { kind: 'accepted' }> {
  switch (acceptance.kind) {
    case 'accepted':
      return acceptance;
    case 'gone':
      throw deadLink();
    case 'is-user':
      throw signInFirst();
    case 'other-email':
      throw new ApiError(
        'conflict',
        'The invitation is for another e-mail address than the one you are signed in with. Sign out and open the link again.',
      );
  }
}

async function whileProviderIsThere<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof ProviderAway)) throw cause;
    throw new ApiError('upstream_unavailable', 'The provider to sign in through does not answer. Try again in a moment.', {
      cause,
      retryAfterSeconds: 5,
    });
  }
}

/** Not to another site, nor to what a browser would take for one. */
function ownPath(next: string): string {
  const base = 'http://dashboard.invalid';
  const url = URL.parse(next, base);
  return next.startsWith('/') && url?.origin === base ? url.pathname + url.search : '/';
}

function deadLink(): ApiError {
  return new ApiError('not_found', 'This link was used before, has expired, or was withdrawn. Ask for a new one.');
}

function signInFirst(): ApiError {
  return new ApiError('not_signed_in', 'The invited address has a sign-in already. Sign in with it, and open the link again.');
}

function startAgain(): ApiError {
  return new ApiError('sign_in_failed', 'The sign-in took too long or was tried too often. Start again with your password.');
}
