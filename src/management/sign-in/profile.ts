// A user's own settings.
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { profileEndpoints } from '../contract/profile.ts';
import { passwordChangedMail, secondFactorMail } from '../../domain/users/messages.ts';
import {
  changeEmail,
  findUser,
  passwordHashOf,
  removeSecondFactor,
  renameUser,
  replacePassword,
} from '../../domain/users/user-records.ts';
import { endSessions, listSessions } from '../../domain/users/user-sessions.ts';
import { clientOf, rememberDevice, setCookies } from './client.ts';
import { checkPassword, secondFactorAttempts, wrongPassword } from './confirmation.ts';
import type { Handlers } from '../handlers.ts';
import { makeProofMail } from './links.ts';
import { checkEmail, checkName, checkNewPassword } from './sign-in-fields.ts';

export const profileHandlers: Handlers<typeof profileEndpoints> = {
  'GET /profile': async ({ context: { database, users }, session }) => {
    const user = await findUser(database, { id: session.userId });
    if (!user) throw new ApiError('not_found', 'This user no longer exists.');
    return {
      id: user.id,
      name: user.name,
      email: user.email,
      email_verified: user.isEmailVerified,
      has_password: (await passwordHashOf(database.read, user.id)) !== null,
      second_factor: {
        enabled: user.hasSecondFactor,
        backup_codes_left: user.hasSecondFactor
          ? await users.authentication.backupCodesLeft(user.id)
          : 0,
      },
    };
  },

  'PATCH /profile': async ({ body, session: { userId, name: before }, changes }) => {
    const name = checkName(body.name);
    await changes.commit(async (database) => {
      await renameUser(database.write, userId, name);
      const fields = { before: { name: before }, after: { name } };
      return { change: { action: 'user.update', subject: userId, ...fields } };
    });
  },

  'POST /profile/email': async ({ context, body, session, changes, request }) => {
    const { users } = context;
    const email = checkEmail(body.email);
    const { userId } = session;
    if (users.mailer) {
      await users.attempts.take(request.ip, { kind: 'password-reset', of: email });
      users.mailer.sendLater(await makeProofMail(context, changes, { userId, email }));
      return { next: 'check-email' };
    }
    await changes.commit(async ({ write }) => {
      if (!(await changeEmail(write, { userId, email, isVerified: false })))
        throw new ApiError('conflict', 'This e-mail address is in use.', { param: 'email' });
      const fields = { before: { email: session.email }, after: { email } };
      return { change: { action: 'user.email', subject: userId, ...fields } };
    });
    return { next: 'done' };
  },

  'POST /profile/password': async ({ context, body, session, changes, request, reply }) => {
    const { users } = context;
    const { userId, email } = session;
    const given = {
      session,
      password: body.current_password,
      address: request.ip,
      param: 'current_password',
    };
    await checkPassword(context, given);
    const passwordHash = await checkNewPassword(body.new_password, {
      email,
      param: 'new_password',
    });
    await changes.commit(async ({ write }) => {
      await replacePassword(write, { userId, passwordHash }, context.gateway.clock.nowMs());
      return { change: { action: 'user.password', subject: userId } };
    });
    users.mailer?.sendLater({ to: email, ...passwordChangedMail() });
    setCookies(reply, await users.authentication.startSession(clientOf(request), userId));
    const [renewed] = await listSessions(
      context.database.read,
      userId,
      context.gateway.clock.nowMs(),
    );
    // Otherwise each change of the password would allow further guesses of a code.
    if (renewed)
      await users.attempts.move(secondFactorAttempts(session), secondFactorAttempts(renewed));
    await rememberDevice(context, userId, { request, reply });
  },

  'GET /profile/sessions': async ({ context: { database, gateway }, session }) => {
    const sessions = await listSessions(database.read, session.userId, gateway.clock.nowMs());
    return {
      data: sessions.map(({ id, createdAt, renewedAt, expiresAt, address, userAgent }) => ({
        id,
        current: id === session.id,
        created_at: new Date(createdAt).toISOString(),
        last_active_at: new Date(renewedAt).toISOString(),
        expires_at: new Date(expiresAt).toISOString(),
        address: address ?? '',
        user_agent: userAgent ?? '',
      })),
    };
  },

  'DELETE /profile/sessions/:session': async ({ params, session, changes }) => {
    const { session: sessionId } = params;
    const { userId } = session;
    await changes.commit(async (database) => {
      const count = await endSessions(database.write, userId, ['=', sessionId]);
      if (count === 0)
        throw new ApiError('not_found', 'There is no such session, or it has ended.');
      return { change: { action: 'session.end', subject: sessionId } };
    });
  },

  'POST /profile/sessions/revoke-others': async ({ session, changes }) => {
    const { userId, id: sessionId } = session;
    await changes.commit(async (database) => {
      const count = await endSessions(database.write, userId, ['!=', sessionId]);
      const about = { action: 'session.end-others', subject: userId } as const;
      return { change: count === 0 ? null : { ...about, after: { count } } };
    });
  },

  'POST /profile/second-factor': async ({ context, body, session, request, reply }) => {
    const { password } = body;
    await checkPassword(context, { session, password, address: request.ip });
    const { result, cookies } = await context.users.authentication.startSecondFactor(
      clientOf(request),
      password,
    );
    if (result === 'is-on') throw new ApiError('conflict', 'The second factor is already on.');
    if (result === 'wrong') throw wrongPassword('password');
    setCookies(reply, cookies);
    return { uri: result.uri, secret: result.secret, backup_codes: result.backupCodes };
  },

  'POST /profile/second-factor/confirm': async ({
    context,
    body: { code },
    session,
    changes,
    request,
    reply,
  }) => {
    const { users, database } = context;
    const { userId, email } = session;
    if ((await findUser(database, { id: userId }))?.hasSecondFactor)
      throw new ApiError('conflict', 'The second factor is already on.');
    const attempts = secondFactorAttempts(session);
    await users.attempts.take(request.ip, attempts);
    const given = { userId, code: code.trim() };
    const cookies = await changes.commit(async (transaction) => {
      const { result, cookies: made } = await users.authentication.confirmSecondFactor(
        transaction,
        clientOf(request),
        given,
      );
      if (result === 'wrong')
        throw invalidRequest(
          'code',
          'The code is wrong. Enter the newest code, and check the clock of your device.',
        );
      return { result: made, change: secondFactorChange(userId, { enabled: true }) };
    });
    await users.attempts.forget(attempts);
    users.mailer?.sendLater({ to: email, ...secondFactorMail('on') });
    setCookies(reply, cookies);
  },

  'POST /profile/second-factor/disable': async ({ context, session, changes }) => {
    const { userId, email } = session;
    if (!(await findUser(context.database, { id: userId }))?.hasSecondFactor)
      throw noSecondFactor();
    await changes.commit(async ({ write }) => {
      await removeSecondFactor(write, userId);
      return { change: secondFactorChange(userId, { enabled: false }) };
    });
    context.users.mailer?.sendLater({ to: email, ...secondFactorMail('off') });
  },

  'POST /profile/second-factor/backup-codes': async ({ context, session, changes }) => {
    const { userId, email } = session;
    const codes = await changes.commit(async (database) => {
      const result = await context.users.authentication.newBackupCodes(database, userId);
      if (!result) throw noSecondFactor();
      return { result, change: { action: 'user.backup-codes', subject: userId } };
    });
    context.users.mailer?.sendLater({ to: email, ...secondFactorMail('new-codes') });
    return { backup_codes: codes };
  },
};

function noSecondFactor(): ApiError {
  return new ApiError('conflict', 'The second factor is not on.');
}

function secondFactorChange(userId: string, { enabled }: { readonly enabled: boolean }) {
  const fields = { before: { enabled: !enabled }, after: { enabled } };
  return { action: 'user.second-factor', subject: userId, ...fields } as const;
}
