// Sign-in, sign-up, sign-out and their links. With a mail server, answers do not reveal to
// strangers who is a user: the address's owner learns it by e-mail instead.
import type { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { changeTerms, findFirstAccount } from '../../domain/accounts/manage-accounts.ts';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import { cleanName } from '../../lib/clean-name.ts';
import { withOneSlash } from '../../lib/one-slash.ts';
import type { authEndpoints } from '../contract/auth.ts';
import { ProviderAway } from '../../domain/users/authentication.ts';
import { proveEmail } from '../../domain/users/email-proof.ts';
import { createFirstUser } from '../../domain/users/first-run.ts';
import {
  acceptInvitation,
  findInvitation,
  type Acceptance,
} from '../../domain/users/invitations.ts';
import {
  alreadyUserMail,
  emailChangedMail,
  passwordChangedMail,
  passwordResetMail,
} from '../../domain/users/messages.ts';
import { findLink, type Link } from '../../domain/users/one-time-link.ts';
import { giveOwnAccount, payPromisedCredit } from '../../domain/users/own-account.ts';
import { newBrowserName } from '../../domain/users/passkeys/passkeys.ts';
import { createResetLink, resetPassword } from '../../domain/users/password-reset.ts';
import { findUser, insertUser, normalizeEmail } from '../../domain/users/user-records.ts';
import type { Handler } from '../../server/context.ts';
import type { ManagementContext } from '../context.ts';
import {
  clientOf,
  cookieLine,
  cookieOf,
  passkeyBrowserOf,
  type RequestAndReply,
  rememberDevice,
  setCookies,
} from './client.ts';
import { finishProviderProof, startProviderProof } from './confirmation.ts';
import type { Handlers } from '../handlers.ts';
import { linkTo, makeProofMail } from './links.ts';
import { placeOf, userOfPasskey } from './passkeys.ts';
import { checkEmail, checkName, checkNewPassword, unlessBusy } from './sign-in-fields.ts';

export const authHandlers: Handlers<typeof authEndpoints> = {
  'POST /auth/sign-in': async ({ context, body: { password, ...given }, request, reply }) => {
    const { users, database } = context;
    const client = clientOf(request);
    const email = normalizeEmail(given.email);
    // Attempts from unknown browsers are counted together. A browser that has signed in before has
    // its own count.
    const attempts = {
      kind: 'sign-in',
      of: (await users.knownDevices.find(cookieOf(request, 'device') ?? '', email)) ?? email,
    } as const;
    await users.attempts.take(request.ip, attempts);
    const { result, cookies } = await unlessBusy(
      users.authentication.signIn(client, { email, password }),
    );
    if (result === 'wrong')
      throw new ApiError('sign_in_failed', 'The e-mail address or the password is wrong.');
    await users.attempts.forget(attempts);
    setCookies(reply, cookies);
    const user = result === 'done' ? await findUser(database, { email }) : null;
    if (user) await rememberDevice(context, user.id, { request, reply });
    return { next: result };
  },

  'POST /auth/second-factor': async ({ context, body, request, reply }) => {
    const { code, kind = 'totp' } = body;
    const { users } = context;
    const client = clientOf(request);
    const userId = await users.authentication.findChallenged(client);
    if (userId === null) throw startAgain();
    const attempts = { kind: 'second-factor', of: userId } as const;
    await users.attempts.take(request.ip, attempts);
    const { result, cookies } = await users.authentication.giveSecondFactor(client, {
      kind,
      code: code.trim(),
      userId,
    });
    setCookies(reply, cookies);
    if (result === 'over') throw startAgain();
    if (result === 'wrong')
      throw new ApiError('sign_in_failed', 'The code is wrong, or was used before.', {
        param: 'code',
      });
    await users.attempts.forget(attempts);
    await rememberDevice(context, userId, { request, reply });
  },

  'POST /auth/passkey/start': async ({ context, request, reply }) => {
    const place = placeOf(context);
    const known = passkeyBrowserOf(request);
    const browser = known ?? newBrowserName();
    if (known === null)
      setCookies(reply, [cookieLine(context, { name: 'passkey', value: browser }, request)]);
    return context.users.passkeys.startSignIn(place, browser);
  },

  'POST /auth/passkey': async ({ context, body: { credential }, request, reply }) => {
    const answer = await userOfPasskey(context, credential, request);
    if ('refusal' in answer) throw new ApiError('sign_in_failed', answer.refusal);
    await startSession(context, answer.userId, { request, reply });
  },

  'POST /auth/sign-out': async ({ context: { users }, request, reply }) => {
    setCookies(reply, await users.authentication.signOut(clientOf(request)));
  },

  'POST /auth/sign-up': async ({ context, body, changes, request, reply }) => {
    const { users, gateway } = context;
    const { open, initial_credit_usd: creditUsd } = gateway.config.signup;
    if (!open)
      throw new ApiError('not_permitted', 'Sign-up is closed here. Ask for an invitation.');
    const email = checkEmail(body.email);
    const name = checkName(body.name);
    await users.attempts.take(request.ip, { kind: 'sign-up', of: email });
    const passwordHash = await checkNewPassword(body.password, { email });
    const nowMs = gateway.clock.nowMs();
    const userId = await changes.commit(async ({ write }) => {
      const id = await insertUser(
        write,
        { name, email, passwordHash, isEmailVerified: false },
        nowMs,
      );
      if (id === null) return { result: null, change: null };
      const terms = { makeAccount: users.makeAccount, creditUsd, nowMs };
      const accountId = await giveOwnAccount(write, { id, name }, terms);
      const about = { action: 'user.sign-up', subject: id, accountId } as const;
      return {
        result: id,
        change: { ...about, after: { name, email } },
        by: { userId: id, email },
      };
    });
    if (users.mailer) {
      const mail =
        userId === null
          ? { to: email, ...alreadyUserMail(`${users.publicUrl()}/sign-in`) }
          : await makeProofMail(context, changes, { userId, email });
      users.mailer.sendLater(mail);
      return { next: 'check-email' };
    }
    if (userId === null)
      throw new ApiError('conflict', 'A user with this e-mail address already exists.', {
        param: 'email',
      });
    await startSession(context, userId, { request, reply });
    return { next: 'done' };
  },

  'POST /auth/link': async (call) => {
    const { kind, email } = await openLink(call);
    return { kind, email };
  },

  'POST /auth/first-run': async (call) => {
    const { context, body, changes } = call;
    const email = checkEmail(body.email);
    const name = checkName(body.name);
    const accountName = body.account_name === undefined ? null : cleanName(body.account_name);
    if (accountName === '') throw invalidRequest('account_name', 'Give the account a name.');
    await openLink(call, 'first-run');
    const passwordHash = await checkNewPassword(body.password, { email });
    const accountId = await findFirstAccount(context.database.read);
    if (accountId === null)
      throw new Error('an installation without an account cannot have a first user');
    const userId = await changes.commit(async (database) => {
      const { write } = database;
      const user = { name, email, passwordHash };
      const first = { token: body.token, user, accountId };
      const id = await createFirstUser(write, first, changes.clock.nowMs());
      if (id === null) throw deadLink();
      if (accountName !== null) await changeTerms(database.write, accountId, { name: accountName });
      const named = accountName !== null && { account_name: accountName };
      const after = { name, email, is_operator: true, role: 'owner', ...named };
      const change = { action: 'user.first-run', subject: id, accountId, after } as const;
      return { result: id, change, by: { userId: id, email } };
    });
    await startSession(context, userId, call);
  },

  'POST /auth/password-reset': async ({ context, body, changes, request }) => {
    const { users } = context;
    const email = checkEmail(body.email);
    await users.attempts.take(request.ip, { kind: 'password-reset', of: email });
    // The link is created while the answer is sent, so that the response time reveals nothing.
    if (users.mailer) void sendResetLink({ context, changes }, email);
  },

  'POST /auth/password-reset/complete': async (call) => {
    const { context, body, changes } = call;
    const { users } = context;
    const link = await openLink(call, 'password-reset');
    const passwordHash = await checkNewPassword(body.password, { email: link.email });
    const email = link.email ?? '';
    const userId = await changes.commit(async ({ write }) => {
      const reset = { token: body.token, passwordHash };
      const id = await resetPassword(write, reset, changes.clock.nowMs());
      if (id === null) throw deadLink();
      const change = { action: 'user.password-reset', subject: id } as const;
      return { result: id, change, by: { userId: id, email } };
    });
    users.mailer?.sendLater({ to: email, ...passwordChangedMail() });
    await users.attempts.forget({ kind: 'sign-in', of: email });
    await rememberDevice(context, userId, call);
  },

  'POST /auth/verify-email': async (call) => {
    const { context, body, session, changes } = call;
    const { userId } = session;
    const { users, gateway } = context;
    const link = await openLink(call, 'verify-email');
    if (link.userId !== userId)
      throw new ApiError('conflict', 'This link is for another user. Sign out and open it again.');
    const { email, before } = await changes.commit(async ({ write }) => {
      const proof = { token: body.token, userId };
      const result = await proveEmail(write, proof, changes.clock.nowMs());
      if (!result) throw deadLink();
      const fields = { before: { email: result.before }, after: { email: result.email } };
      return { result, change: { action: 'user.verify-email', subject: userId, ...fields } };
    });
    await payPromisedCredit(changes.unrecorded, userId, {
      creditOnce: users.creditOnce,
      mustProveEmail: gateway.config.smtp !== null,
    });
    if (before !== email)
      for (const to of [before, email]) users.mailer?.sendLater({ to, ...emailChangedMail(email) });
    return { email };
  },

  'POST /auth/verify-email/send': async ({ context, session, changes, request }) => {
    const { users } = context;
    if (!users.mailer)
      throw new ApiError('conflict', 'This service cannot send e-mails. Ask the operator.');
    await users.attempts.take(request.ip, { kind: 'password-reset', of: session.userId });
    users.mailer.sendLater(await makeProofMail(context, changes, session));
  },

  'POST /auth/invitation': async (call) => {
    const { accountName, role, email, invitedBy, userId, expiresAtMs } = await openInvitation(call);
    return {
      account_name: accountName,
      role,
      email,
      invited_by: invitedBy,
      is_user: userId !== null,
      expires_at: new Date(expiresAtMs).toISOString(),
    };
  },

  'POST /auth/invitation/accept': async (call) => {
    const { context, body, session, changes } = call;
    const { token, name, password } = body;
    const { email, userId: known } = await openInvitation(call);
    if (!session && known !== null) throw signInFirst();
    if (!session && (name === undefined || password === undefined)) {
      throw invalidRequest(
        name === undefined ? 'name' : 'password',
        'Choose a name and a password.',
      );
    }
    const person = session ?? {
      name: checkName(name!),
      passwordHash: await checkNewPassword(password!, { email }),
    };
    const { accountId, userId } = await changes.commit(async ({ write }) => {
      const result = acceptedOrThrow(
        await acceptInvitation(write, token, person, changes.clock.nowMs()),
      );
      const { userId: subject, role, accountId: joined } = result;
      const change = { action: 'member.join', subject, accountId: joined } as const;
      const by = { userId: subject, email };
      return { result, change: { ...change, after: { email, role } }, by };
    });
    if (!session) await startSession(context, userId, call);
    return { account_id: accountId };
  },

  'POST /auth/oidc': async ({ context, body, request, reply }) => {
    const { next = '/', fresh: isFresh = false } = body;
    const { users, gateway } = context;
    if (!gateway.config.oidc) throw noProvider();
    await users.attempts.takeFrom(request.ip);
    const { result: url, cookies } = await explainProviderOutage(
      users.authentication.startProvider(clientOf(request), { next: ownPath(next), isFresh }),
    );
    setCookies(reply, cookies);
    if (isFresh) startProviderProof(context, { request, reply });
    return { url };
  },
};

/** Handles the browser's return from the provider. Redirects to the dashboard, signed in or not. */
export function finishProvider(context: ManagementContext): Handler {
  const { users, gateway } = context;
  return async (request, reply) => {
    if (!gateway.config.oidc) throw noProvider();
    await users.attempts.takeFrom(request.ip);
    const query = request.url.split('?')[1] ?? '';
    const { result, cookies } = await explainProviderOutage(
      users.authentication.finishProvider(clientOf(request), query),
    );
    const { path, freshSession } = result;
    setCookies(reply, cookies);
    if (freshSession !== null) finishProviderProof(context, freshSession, { request, reply });
    return reply.header('referrer-policy', 'no-referrer').redirect(path, 303);
  };
}

type TokenCall = Pick<RequestAndReply, 'request'> & {
  readonly context: ManagementContext;
  readonly body: { readonly token: string };
};

/** Counts an attempt and returns the link, before anything costly. Throws ApiError 404, 429. */
async function openLink({ context, body, request }: TokenCall, kind?: Link['kind']): Promise<Link> {
  await context.users.attempts.takeFrom(request.ip);
  const link = await findLink(context.database.read, body.token, context.gateway.clock.nowMs());
  if (link && (kind === undefined || link.kind === kind)) return link;
  throw deadLink();
}

/** Throws ApiError 404, 429. */
async function openInvitation({ context, body, request }: TokenCall) {
  await context.users.attempts.takeFrom(request.ip);
  const { clock } = context.gateway;
  const invitation = await findInvitation(context.database.read, body.token, clock.nowMs());
  if (invitation) return invitation;
  throw deadLink();
}

/** Signs in a new user, or one who proved their identity in another way. */
async function startSession(
  context: ManagementContext,
  userId: string,
  { request, reply }: RequestAndReply,
): Promise<void> {
  setCookies(reply, await context.users.authentication.startSession(clientOf(request), userId));
  await rememberDevice(context, userId, { request, reply });
}

type ResetCall = { readonly context: ManagementContext; readonly changes: AuditedChanges };

async function sendResetLink({ context, changes }: ResetCall, email: string): Promise<void> {
  const { users, database, gateway } = context;
  const { unrecorded, clock } = changes;
  try {
    const user = await findUser(database, { email });
    if (!user) return;
    const token = await createResetLink(unrecorded.write, { user, mailed: true }, clock.nowMs());
    await users.mailer?.send({
      to: email,
      ...passwordResetMail(linkTo(context, '/reset-password', token)),
    });
  } catch (err) {
    gateway.log.error({ err }, 'the password reset e-mail could not be sent');
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

async function explainProviderOutage<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    if (!(cause instanceof ProviderAway)) throw cause;
    const message = 'The sign-in provider does not answer. Try again in a moment.';
    throw new ApiError('upstream_unavailable', message, { cause, retryAfterSeconds: 5 });
  }
}

/**
 * Returns `next` when it is a path of this site, else `/`. Browsers read some paths, such as
 * `//host`, as another site.
 */
function ownPath(next: string): string {
  const base = 'http://dashboard.invalid';
  const url = URL.parse(next, base);
  if (!next.startsWith('/') || url?.origin !== base) return '/';
  return withOneSlash(url.pathname) + url.search;
}

function noProvider(): ApiError {
  return new ApiError('not_found', 'Sign-in through a provider is not configured here.');
}

function deadLink(): ApiError {
  return new ApiError(
    'not_found',
    'This link was used before, has expired, or was withdrawn. Ask for a new one.',
  );
}

function signInFirst(): ApiError {
  return new ApiError(
    'not_signed_in',
    'The invited e-mail address belongs to a user. Sign in as that user and open the link again.',
  );
}

function startAgain(): ApiError {
  return new ApiError(
    'sign_in_failed',
    'The sign-in took too long, had too many attempts, or its code was used before. Start again with your password, and the next code.',
  );
}
