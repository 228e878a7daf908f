// Gives a program on another machine a key that a user confirms in the dashboard.
import { ApiError } from '../../canonical/errors.ts';
import type { Database } from '../../db/database.ts';
import { AuditedChanges } from '../../domain/audit/audited-changes.ts';
import { digestKeyFrom, isOfProgram, keyDigest, programStart } from '../../domain/keys/key-text.ts';
import { findByDigest } from '../../domain/keys/manage-keys.ts';
import {
  beginDeviceLogin,
  decideDeviceLogin,
  type DeviceLogins,
  findDeviceLogin,
  writtenCode,
  readDeviceLogin,
  useDeviceLogin,
  userDigest,
} from '../../domain/users/device-logins.ts';
import { lacksSecondFactor, lockMembers } from '../../domain/users/members.ts';
import { clientGroupOf } from '../../lib/addresses.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { dayMs } from '../../lib/utc-time.ts';
import { isAtLeast, requireProof } from '../access.ts';
import { changeKey, createKey } from '../changes/keys.ts';
import type { ManagementContext } from '../context.ts';
import type { deviceLoginsEndpoints } from '../contract/device-logins.ts';
import type { Handlers } from '../handlers.ts';
import { checkName } from './sign-in-fields.ts';

/** A key on a machine that is lost ends by itself; its program then asks for another. */
const keyMs = 90 * dayMs;

type Input = { readonly database: Database; readonly secrets: Secrets; readonly clock: Clock };

export function openDeviceLogins({ database, secrets, clock }: Input): DeviceLogins {
  const [secret] = secrets;
  return {
    begin: (asking) => beginDeviceLogin(database.transient, secret, asking, clock.nowMs()),
    async poll(deviceCode) {
      const login = await readDeviceLogin(database.read, deviceCode, clock.nowMs());
      if (login.kind !== 'confirmed') return login;
      const { accountId, userId, keyName: name, email, confirmedFrom: address } = login;
      const actor = { kind: 'user', id: userId, name: email, address } as const;
      const changes = new AuditedChanges({ database, actorOf: () => actor, accountId, clock });
      return changes.together(async (inside) => {
        const { write } = inside.unrecorded;
        const members = await lockMembers(write, accountId);
        if (!(await useDeviceLogin(write, deviceCode, clock.nowMs()))) return { kind: 'gone' };
        // The user may have lost the right since.
        const role = members.find((member) => member.user_id === userId)?.role;
        if (!role || !isAtLeast(role, 'admin')) return { kind: 'denied' };
        if (await lacksSecondFactor(write, { accountId, userId })) return { kind: 'denied' };
        const expiresAtMs = clock.nowMs() + keyMs;
        const whose = { accountId, mode: 'live', ownerId: userId, name } as const;
        const order = { ...whose, expiresAtMs, textStart: programStart };
        const { key } = await createKey(inside, secret, order);
        return { kind: 'made', key, email, lifetimeMs: keyMs };
      });
    },
    async revoke(key, address) {
      if (!isOfProgram(key)) return;
      const digests = secrets.map((one) => keyDigest(digestKeyFrom(one), key));
      const found = await findByDigest(database.read, digests);
      if (!found) return;
      const actor = { kind: 'service', id: 'sign-out', name: 'Sign-out', address } as const;
      const changes = new AuditedChanges({ database, actorOf: () => actor, clock });
      await changeKey(changes, found, { action: 'revoke' });
    },
  };
}

export const deviceLoginsHandlers: Handlers<typeof deviceLoginsEndpoints> = {
  'POST /device-logins/find': async ({ context, session, body, request }) => {
    await takeTry(context, session.userId, request.ip);
    const { secrets, database, gateway } = context;
    const nowMs = gateway.clock.nowMs();
    const login = await findDeviceLogin(database.read, secrets[0], body.user_code, nowMs);
    if (!login) throw nobodyWaits();
    return {
      user_code: writtenCode(body.user_code),
      program: login.program,
      address: login.address,
      is_same_address: clientGroupOf(login.address) === clientGroupOf(request.ip),
      expires_at: new Date(login.expiresAtMs).toISOString(),
    };
  },

  'POST /accounts/:account/device-logins': async ({ context, account, session, ...call }) => {
    const { accountId } = account;
    const { userId } = session;
    const { body, request, changes } = call;
    await requireProof(context, { userId, accountId });
    await takeTry(context, userId, request.ip);
    const keyName = checkName(body.name, 'Give the key a name.');
    const confirmation = { accountId, userId, keyName, confirmedFrom: request.ip };
    await decide(context, changes, body.user_code, confirmation);
    return { confirmed: true };
  },

  'POST /device-logins/deny': async ({ context, session, body, request, changes }) => {
    await takeTry(context, session.userId, request.ip);
    await decide(context, changes, body.user_code, 'denied');
    return { denied: true };
  },
};

/** Each use of a code counts, also of a right one: otherwise one's own code would free guesses. */
function takeTry({ users }: ManagementContext, userId: string, address: string): Promise<void> {
  return users.attempts.take(address, { kind: 'device-code', of: userId });
}

/** The audit log has the key, when it is made. */
async function decide(
  { secrets }: ManagementContext,
  { unrecorded, clock }: AuditedChanges,
  userCode: string,
  decision: Parameters<typeof decideDeviceLogin>[2],
): Promise<void> {
  const digest = userDigest(secrets[0], userCode);
  if (!(await decideDeviceLogin(unrecorded.write, digest, decision, clock.nowMs())))
    throw nobodyWaits();
}

function nobodyWaits(): ApiError {
  return new ApiError(
    'not_found',
    'No program waits with this code. Codes end after ten minutes and work once: start the sign-in on your machine again.',
  );
}
