// A user's own settings. Whatever could take the sign-in from its owner asks for the password again.
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { settingsEndpoints } from '../../dashboard-contract/settings.ts';
import { createProofLink, takeEmail } from '../../users/email-proof.ts';
import { verifyMail } from '../../users/messages.ts';
import { verifyPassword } from '../../users/password.ts';
import type { Session } from '../../users/session.ts';
import { findUser, passwordHashOf, renameUser, replacePassword } from '../../users/user-records.ts';
import { endOtherSessions, endSession, listSessions } from '../../users/user-sessions.ts';
import type { ServerContext } from '../context.ts';
import { clientOf, setCookies } from './client.ts';
import { changed, type Handlers } from './handlers.ts';
import { linkTo } from './links.ts';
import { checkEmail, checkName, checkNewPassword, unlessBusy } from './sign-in-fields.ts';

type ProfileEndpoints = {
  readonly [
    Name in keyof typeof settingsEndpoints as Name extends `${string} /profile${string}` ? Name : never
  ]: (typeof settingsEndpoints)[Name];
};

const done = { ok: true } as const;

export const profileHandlers: Handlers<ProfileEndpoints> = {
  'GET /profile': async ({ context: { database, users }, session }) => {
    const user = await findUser(database, { id: session.userId });
    if (!user) throw new ApiError('not_found', 'The user is gone.');
    return {
      id: user.id,
      name: user.name,
      email: user.email,
      email_verified: user.isEmailVerified,
      has_password: (await passwordHashOf(database, user.id)) !== null,
      second_factor: {
        enabled: user.hasSecondFactor,
        backup_codes_left: user.hasSecondFactor ? await users.authentication.backupCodesLeft(user.id) : 0,
      },
    };
  },

  'PATCH /profile': async ({ context: { database }, body, session }) => {
    const name = checkName(body.name);
    await renameUser(database, session.userId, name);
    const change = { action: 'user.update', subject: session.userId, before: { name: session.name }, after: { name } };
    return changed(done, change);
  },

  'POST /profile/email': async ({ context, body, session, request }) => {
    const { database, users } = context;
    const email = checkEmail(body.email);
    await checkPassword(context, { session, password: body.password, address: request.ip });
    const { userId } = session;
    const change = { action: 'user.email', subject: userId, before: { email: session.email }, after: { email } };
    if (users.mailer) {
      await users.attempts.take(request.ip, { kind: 'password-reset', of: email });
      const token = await createProofLink(database, { userId, email }, context.gateway.clock.nowMs());
      users.mailer.sendLater({ to: email, ...verifyMail(linkTo(context, '/verify-email', token)) });
      return changed({ next: 'check-email' }, null);
    }
    if (!(await takeEmail(database, { userId, email })))
      throw new ApiError('conflict', 'This e-mail address is in use.', { param: 'email' });
    return changed({ next: 'done' }, change);
  },

  'POST /profile/password': async ({ context, body, session, request, reply }) => {
    const { database, users } = context;
    const { userId } = session;
    await checkPassword(context, {
      session,
      password: body.current_password,
      address: request.ip,
      param: 'current_password',
    });
    const passwordHash = await checkNewPassword(body.new_password, { email: session.email, param: 'new_password' });
    await database.write
      .transaction()
      .execute((transaction) => replacePassword(transaction, { userId, passwordHash }, context.gateway.clock.nowMs()));
    setCookies(reply, await users.authentication.startSession(clientOf(request), userId));
    return changed(done, { action: 'user.password', subject: userId, before: null, after: null });
  },

  'GET /profile/sessions': async ({ context: { database, gateway }, session }) => {
    const sessions = await listSessions(database, session.userId, gateway.clock.nowMs());
    return {
      data: sessions.map(({ id, createdAt, renewedAt, expiresAt, address, userAgent }) => ({
        id,
        current: id === session.id,
        created_at: createdAt.toISOString(),
        last_active_at: renewedAt.toISOString(),
        expires_at: expiresAt.toISOString(),
        address,
        user_agent: userAgent,
      })),
    };
  },

  'DELETE /profile/sessions/:session': async ({ context: { database }, params, session }) => {
    const isEnded = await endSession(database, { userId: session.userId, sessionId: params.session });
    if (!isEnded) throw new ApiError('not_found', 'There is no such session, or it has ended.');
    return changed(done, { action: 'session.end', subject: params.session, before: null, after: null });
  },

  'POST /profile/sessions/revoke-others': async ({ context: { database }, session }) => {
    const count = await endOtherSessions(database, { userId: session.userId, sessionId: session.id });
    const change = { action: 'session.end-others', subject: session.userId, before: null, after: { count } };
    return changed(done, count === 0 ? null : change);
  },

  'POST /profile/second-factor': async ({ context, body: { password }, session, request, reply }) => {
    await checkPassword(context, { session, password, address: request.ip });
    const { result, cookies } = await context.users.authentication.startSecondFactor(clientOf(request), password);
    if (result === 'is-on') throw new ApiError('conflict', 'The second factor is on already.');
    if (result === 'wrong') throw wrongPassword('password');
    setCookies(reply, cookies);
    return changed({ uri: result.uri, secret: result.secret, backup_codes: result.backupCodes }, null);
  },

  'POST /profile/second-factor/confirm': async ({ context: { users }, body: { code }, session, request, reply }) => {
    const attempts = { kind: 'second-factor', of: session.userId } as const;
    await users.attempts.take(request.ip, attempts);
    const given = { userId: session.userId, code: code.trim() };
    const { result, cookies } = await users.authentication.confirmSecondFactor(clientOf(request), given);
    if (result === 'wrong')
      throw invalidRequest('code', 'The code is wrong. Take the newest one, and check that the clock is right.');
    await users.attempts.forget(attempts);
    setCookies(reply, cookies);
    const change = {
      action: 'user.second-factor',
      subject: session.userId,
      before: { enabled: false },
      after: { enabled: true },
    };
    return changed(done, change);
  },

  'POST /profile/second-factor/disable': async ({ context, body: { password }, session, request, reply }) => {
    await checkPassword(context, { session, password, address: request.ip });
    const { result, cookies } = await context.users.authentication.endSecondFactor(clientOf(request), password);
    if (result === 'wrong') throw wrongPassword('password');
    setCookies(reply, cookies);
    const change = {
      action: 'user.second-factor',
      subject: session.userId,
      before: { enabled: true },
      after: { enabled: false },
    };
    return changed(done, change);
  },

  'POST /profile/second-factor/backup-codes': async ({ context, body: { password }, session, request }) => {
    await checkPassword(context, { session, password, address: request.ip });
    const codes = await context.users.authentication.newBackupCodes(clientOf(request), password);
    if (codes === 'wrong') throw new ApiError('conflict', 'There is no second factor to have backup codes for.');
    return changed({ backup_codes: codes }, { action: 'user.backup-codes', subject: session.userId, before: null, after: null });
  },
};

type PasswordCheck = {
  readonly session: Session;
  readonly password: string;
  readonly address: string;
  readonly param?: string;
};

/** Whoever sits down at somebody's open browser gets no further than what is open. Throws ApiError 400, 429. */
async function checkPassword(
  { database, users }: ServerContext,
  { session, password, address, param = 'password' }: PasswordCheck,
): Promise<void> {
  const attempts = { kind: 'password', of: session.userId } as const;
  await users.attempts.take(address, attempts);
  const hash = await passwordHashOf(database, session.userId);
  if (hash === null) {
    throw new ApiError('conflict', 'You have no password yet: you sign in through the provider. Ask for a link to choose one.');
  }
  if (!(await unlessBusy(verifyPassword({ hash, password })))) throw wrongPassword(param);
  await users.attempts.forget(attempts);
}

function wrongPassword(param: string): ApiError {
  return invalidRequest(param, 'The password is wrong.');
}
