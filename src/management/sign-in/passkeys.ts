// A user's passkeys.
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../canonical/errors.ts';
import type { passkeysEndpoints } from '../contract/profile.ts';
import { passkeyMail } from '../../domain/users/messages.ts';
import { useChallenge } from '../../domain/users/passkeys/challenges.ts';
import type { PasskeyRefusal, SignedCredential } from '../../domain/users/passkeys/passkeys.ts';
import type { PasskeyPlace } from '../../domain/users/passkeys/place.ts';
import {
  insertPasskey,
  listPasskeys,
  passkeysMax,
  removePasskey,
} from '../../domain/users/passkeys/records.ts';
import type { Handlers } from '../handlers.ts';
import { passkeyBrowserOf } from './client.ts';
import type { ManagementContext } from '../context.ts';
import { checkName } from './sign-in-fields.ts';
import { isoTimeOf } from '../../lib/iso-time.ts';

export const passkeysHandlers: Handlers<typeof passkeysEndpoints> = {
  'GET /profile/passkeys': async ({ context: { database, users }, session }) => {
    const here = users.passkeys.place?.rpId;
    const passkeys = await listPasskeys(database.read, session.userId);
    return {
      data: passkeys.map(({ id, name, rpId, createdAtMs, lastUsedAtMs }) => ({
        id,
        name,
        host: rpId,
        works_here: rpId === here,
        created_at: new Date(createdAtMs).toISOString(),
        last_used_at: isoTimeOf(lastUsedAtMs),
      })),
    };
  },

  'POST /profile/passkeys/start': async ({ context, session }) => {
    const place = placeOf(context);
    const { id: sessionId, ...user } = session;
    return await context.users.passkeys.startAdding(place, { sessionId, ...user });
  },

  'POST /profile/passkeys': async ({ context, body, session, changes, request }) => {
    const { users, gateway } = context;
    const { userId, email } = session;
    const place = placeOf(context);
    const name = checkName(body.name);
    await users.attempts.takeFrom(request.ip);
    const made = await users.passkeys.checkNew(place, body.credential, session.id);
    if (made.kind !== 'made') throw refusedCredential(made.kind, place);
    const nowMs = gateway.clock.nowMs();
    const id = await changes.commit(async (database) => {
      if (!(await useChallenge(database.write, made.challenge, nowMs)))
        throw refusedCredential('over', place);
      const added = await insertPasskey(database.write, { userId, name, ...made.passkey }, nowMs);
      if (added.kind !== 'added') throw notAdded(added.kind);
      const after = { passkey: added.id, name };
      return { result: added.id, change: { action: 'user.passkey-add', subject: userId, after } };
    });
    users.mailer?.sendLater({ to: email, ...passkeyMail({ kind: 'added', name }) });
    return { id };
  },

  'POST /profile/passkeys/:passkey/remove': async ({ context, params, session, changes }) => {
    const { userId, email } = session;
    const id = params.passkey;
    const name = await changes.commit(async ({ write }) => {
      const removed = await removePasskey(write, { userId, id });
      if (removed === null) throw noSuchPasskey();
      const before = { passkey: id, name: removed };
      return {
        result: removed,
        change: { action: 'user.passkey-remove', subject: userId, before },
      };
    });
    context.users.mailer?.sendLater({ to: email, ...passkeyMail({ kind: 'removed', name }) });
  },
};

/** Throws ApiError 409 where browsers refuse passkeys. */
export function placeOf({ users }: ManagementContext): PasskeyPlace {
  const { place } = users.passkeys;
  if (place) return place;
  throw new ApiError(
    'conflict',
    `Passkeys need an address with https and a host name, or localhost. This service is at ${users.publicUrl()}. Its operator can change \`server.public_url\`.`,
  );
}

/**
 * Returns the user whose passkey gave an answer in this browser, or why it is refused, in words.
 * Throws ApiError 409, 429.
 */
export async function userOfPasskey(
  context: ManagementContext,
  credential: SignedCredential,
  request: FastifyRequest,
): Promise<{ readonly userId: string } | { readonly refusal: string }> {
  const { users } = context;
  const place = placeOf(context);
  const attempts = { kind: 'passkey', of: credential.id } as const;
  await users.attempts.take(request.ip, attempts);
  const browser = passkeyBrowserOf(request) ?? '';
  const checked = await users.passkeys.checkSignIn(place, credential, browser);
  if (checked.kind !== 'right') return { refusal: explainRefusal(checked.kind, place) };
  await users.attempts.forget(attempts);
  return { userId: checked.userId };
}

/** Says why a passkey is refused, and what helps. */
function explainRefusal(refusal: PasskeyRefusal, { origin }: PasskeyPlace): string {
  const texts: Readonly<Record<PasskeyRefusal, string>> = {
    over: 'This took too long, was answered before, or began in another browser or session. Try again.',
    elsewhere: `The passkey was used at another address. Open ${origin} and try again.`,
    unverified:
      'Your device did not check that it is you. Unlock it by fingerprint, face or PIN, and try again.',
    unknown: 'This passkey is not known here. It may have been removed. Sign in another way.',
    copied:
      'This passkey was removed, or is a copy of one that was used since. Sign in another way, remove it, and add a new one.',
    invalid: 'The answer of your device is not valid. Try again, or use another passkey.',
  };
  return texts[refusal];
}

function refusedCredential(refusal: PasskeyRefusal, place: PasskeyPlace): ApiError {
  return new ApiError('invalid_request', explainRefusal(refusal, place), { param: 'credential' });
}

function notAdded(why: 'full' | 'is-known'): ApiError {
  return new ApiError(
    'conflict',
    why === 'full'
      ? `You have ${passkeysMax} passkeys, the most that a user may have. Remove one first.`
      : 'This passkey was added before. Create another one.',
  );
}

function noSuchPasskey(): ApiError {
  return new ApiError('not_found', 'There is no such passkey, or it was removed.');
}
