// Asks users for their password and second factor again before they change their sign-in.
import type { FastifyRequest } from 'fastify';
import { ApiError, invalidRequest } from '../canonical/errors.ts';
import { verifyPassword } from '../domain/users/password.ts';
import type { Session } from '../domain/users/session.ts';
import { findUser, passwordHashOf } from '../domain/users/user-records.ts';
import type { DashboardContext } from './context.ts';
import { clientOf } from './client.ts';
import { unlessBusy } from './sign-in-fields.ts';

/**
 * The counter of a session's attempts: a thief of one session cannot block the user's sign-in or
 * other sessions.
 */
export function secondFactorAttempts({ id }: Pick<Session, 'id'>) {
  return { kind: 'second-factor', of: id } as const;
}

type SecondFactorCheck = {
  readonly session: Session;
  readonly code: string;
  readonly kind?: 'totp' | 'backup';
  readonly request: FastifyRequest;
};

/**
 * Checks a second-factor code, with the limits of a sign-in: the password alone does not help an
 * attacker. Throws ApiError 400, 409, 429.
 */
export async function checkSecondFactor(
  { database, users }: DashboardContext,
  { session, code, kind = 'totp', request }: SecondFactorCheck,
): Promise<void> {
  const { userId } = session;
  if (!(await findUser(database, { id: userId }))?.hasSecondFactor) throw noSecondFactor();
  const attempts = secondFactorAttempts(session);
  await users.attempts.take(request.ip, attempts);
  const isRight = await users.authentication.isRightCode(clientOf(request), {
    kind,
    code: code.trim(),
    userId,
  });
  if (!isRight) throw invalidRequest('code', 'The code is wrong, or was used before.');
  await users.attempts.forget(attempts);
}

export function noSecondFactor(): ApiError {
  return new ApiError('conflict', 'The second factor is not on.');
}

type PasswordCheck = {
  readonly session: Session;
  readonly password: string;
  readonly address: string;
  readonly param?: string;
};

/**
 * Checks the password again, so that an unattended browser is not enough to take over the sign-in.
 * Throws ApiError 400, 409, 429.
 */
export async function checkPassword(
  { database, users }: DashboardContext,
  { session, password, address, param = 'password' }: PasswordCheck,
): Promise<void> {
  // Counted per session, so that a thief of one session cannot block the user.
  const attempts = { kind: 'password', of: session.id } as const;
  await users.attempts.take(address, attempts);
  const hash = await passwordHashOf(database, session.userId);
  if (hash === null) {
    throw new ApiError(
      'conflict',
      'You have no password, because you sign in through the provider. Ask for a link to choose one.',
    );
  }
  if (!(await unlessBusy(verifyPassword({ hash, password })))) throw wrongPassword(param);
  await users.attempts.forget(attempts);
}

export function wrongPassword(param: string): ApiError {
  return invalidRequest(param, 'The password is wrong.');
}

type Confirmation = {
  readonly session: Session;
  readonly password: string;
  readonly code?: string;
  readonly kind?: 'totp' | 'backup';
  readonly request: FastifyRequest;
};

/**
 * Checks the password, and a code if the user has a second factor. Throws ApiError 400, 409, 429.
 */
export async function checkConfirmation(
  context: DashboardContext,
  { session, password, code = '', kind, request }: Confirmation,
): Promise<void> {
  await checkPassword(context, { session, password, address: request.ip });
  const user = await findUser(context.database, { id: session.userId });
  if (!user?.hasSecondFactor) return;
  if (code.trim() === '')
    throw invalidRequest('code', 'Enter a code of your second factor, or a backup code.');
  await checkSecondFactor(context, { session, code, kind, request });
}
