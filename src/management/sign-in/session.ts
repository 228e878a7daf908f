// The signed-in user, and the features of this installation.
import { findAccounts } from '../../domain/accounts/manage-accounts.ts';
import type { sessionEndpoints, SessionInfo } from '../contract/session.ts';
import type { Membership } from '../../domain/users/session.ts';
import { findUser } from '../../domain/users/user-records.ts';
import type { Reader } from '../context.ts';
import type { Handlers } from '../handlers.ts';

export const sessionHandlers: Handlers<typeof sessionEndpoints> = {
  'GET /session': async ({ context: { database, users, gateway }, session }) => {
    const { config } = gateway;
    const user = session && (await findUser(database, { id: session.userId }));
    const accounts = session ? await accountsOf(database, session.memberships) : [];
    return {
      user: user && {
        id: user.id,
        name: user.name,
        email: user.email,
        email_verified: user.isEmailVerified,
        is_operator: user.isOperator,
        second_factor: user.hasSecondFactor,
      },
      accounts,
      features: {
        signup_open: config.signup.open,
        smtp: config.smtp !== null,
        oidc_name: config.oidc?.name ?? null,
        passkeys: users.passkeys.place !== null,
        stripe: config.stripe !== null,
        test_mode: config.test_mode.enabled,
        service_name: config.service.name,
        public_url: users.publicUrl(),
      },
    };
  },
};

async function accountsOf(
  database: Reader,
  memberships: readonly Membership[],
): Promise<SessionInfo['accounts']> {
  const accounts = await findAccounts(
    database.read,
    memberships.map(({ accountId }) => accountId),
  );
  const byId = new Map(accounts.map((account) => [account.id, account]));
  return memberships.flatMap(({ accountId: id, role }) => {
    const account = byId.get(id);
    return account ? [{ id, name: account.name, role, frozen: account.isFrozen }] : [];
  });
}
