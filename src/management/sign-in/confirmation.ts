// Asks users to show again who they are, before calls that give a way in which outlives the session:
// an unattended browser, or a stolen session, must not be enough. `confirmed` marks these calls.
import type { FastifyRequest } from 'fastify';
import { ApiError, invalidRequest } from '../../canonical/errors.ts';
import type { ConfirmationFields, ConfirmationWays } from '../contract/common.ts';
import { useChallenge } from '../../domain/users/passkeys/challenges.ts';
import { listPasskeys } from '../../domain/users/passkeys/records.ts';
import { verifyPassword } from '../../domain/users/password.ts';
import type { Session } from '../../domain/users/session.ts';
import { findUser, passwordHashOf } from '../../domain/users/user-records.ts';
import type { DoorContext, ManagementContext } from '../context.ts';
import { clientOf, cookieLine, cookieOf, type RequestAndReply, setCookies } from './client.ts';
import { userOfPasskey } from './passkeys.ts';
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
  readonly request: FastifyRequest;
};

/**
 * Checks a second-factor code, with the limits of a sign-in: the password alone does not help an
 * attacker. Throws ApiError 400, 409, 429.
 */
async function checkSecondFactor(
  { users }: ManagementContext,
  { session, code, request }: SecondFactorCheck,
): Promise<void> {
  const { userId } = session;
  const attempts = secondFactorAttempts(session);
  await users.attempts.take(request.ip, attempts);
  const isRight = await users.authentication.isRightCode(clientOf(request), {
    kind: code.includes('-') ? 'backup' : 'totp',
    code: code.trim(),
    userId,
  });
  if (!isRight) throw invalidRequest('code', 'The code is wrong, or was used before.');
  await users.attempts.forget(attempts);
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
  { database, users }: ManagementContext,
  { session, password, address, param = 'password' }: PasswordCheck,
): Promise<void> {
  // Counted per session, so that a thief of one session cannot block the user.
  const attempts = { kind: 'password', of: session.id } as const;
  await users.attempts.take(address, attempts);
  const hash = await passwordHashOf(database.read, session.userId);
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

type ConfirmationCheck = RequestAndReply & {
  readonly session: Session;
  /** The proof that a `confirmed` call asks for. */
  readonly body: ConfirmationFields;
};

/**
 * Checks that the user has just shown again who they are: by the password, with a code if the user
 * has a second factor, by a passkey, or by a fresh sign-in at the provider, which counts once.
 * Throws ApiError 400, 403, 409, 429.
 */
export async function checkConfirmation(
  context: DoorContext,
  { session, body: { password, code = '', passkey }, request, reply }: ConfirmationCheck,
): Promise<void> {
  const user = await findUser(context.database, { id: session.userId });
  if (passkey) {
    const answer = await userOfPasskey(context, passkey, request);
    if ('refusal' in answer) throw invalidRequest('passkey', answer.refusal);
    if (answer.userId === session.userId) return;
    throw invalidRequest('passkey', 'This passkey is of another user. Choose one of yours.');
  }
  if (password === undefined) {
    if (await takeProviderProof(context, session, { request, reply })) return;
    throw await confirmationRequired(context, session.userId, user?.hasSecondFactor ?? false);
  }
  await checkPassword(context, { session, password, address: request.ip });
  if (!user?.hasSecondFactor) return;
  if (code.trim() === '')
    throw invalidRequest('code', 'Enter a code of your second factor, or a backup code.');
  await checkSecondFactor(context, { session, code, request });
}

const proofOf = (sessionId: string) => `signed in at the provider ${sessionId}`;

/** Call it before the browser leaves for a sign-in at the provider that is to confirm a call. */
export function startProviderProof(
  context: ManagementContext,
  { request, reply }: RequestAndReply,
) {
  setCookies(reply, [cookieLine(context, { name: 'confirming', value: '1' }, request)]);
}

/** Call it when the user has just signed in at the provider: if that was asked for, it confirms a call. */
export function finishProviderProof(
  context: ManagementContext,
  sessionId: string,
  { request, reply }: RequestAndReply,
): void {
  const { users, gateway } = context;
  if (cookieOf(request, 'confirming') === null) return;
  const proof = users.proofs.make(proofOf(sessionId), gateway.clock.nowMs());
  setCookies(reply, [
    cookieLine(context, { name: 'confirming', value: '' }, request),
    cookieLine(context, { name: 'confirmed', value: proof }, request),
  ]);
}

async function takeProviderProof(
  context: DoorContext,
  { id }: Session,
  { request, reply }: RequestAndReply,
): Promise<boolean> {
  const { users, database, gateway } = context;
  const nowMs = gateway.clock.nowMs();
  const proof = cookieOf(request, 'confirmed');
  if (proof === null || !users.proofs.isValid(proof, proofOf(id), nowMs)) return false;
  setCookies(reply, [cookieLine(context, { name: 'confirmed', value: '' }, request)]);
  return useChallenge(database.write, proof, nowMs);
}

async function confirmationRequired(
  { database, users, gateway }: DoorContext,
  userId: string,
  code: boolean,
): Promise<ApiError> {
  const here = users.passkeys.place?.rpId;
  const passkeys = await listPasskeys(database.read, userId);
  const details: ConfirmationWays = {
    password: (await passwordHashOf(database.read, userId)) !== null,
    code,
    passkey: passkeys.some(({ rpId }) => rpId === here),
    provider: gateway.config.oidc?.name ?? null,
  };
  const message =
    'Confirm that it is you: send `password`, and `code` if you have a second factor, or `passkey`, or sign in at the provider afresh.';
  return new ApiError('confirmation_required', message, { details });
}
