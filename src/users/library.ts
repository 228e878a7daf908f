// The sign-in library (better-auth), made ready: our tables, hashed tokens, the second factor, the provider that is configured.
import type { BetterAuthOptions, StandardSchemaV1 } from 'better-auth';
import type { Config } from '../config/schema.ts';
import { isPostgresUrl, type Database } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import type { Secret, Secrets } from '../lib/secrets.ts';
import { auditSchema, type OwnChangeRow, withAuditedLinks } from './audited-links.ts';
import { digestBackupCodes } from './backup-codes.ts';
import { withHashedTokens } from './hashed-tokens.ts';
import { libraryOptions, twoFactorSchema } from './library-options.ts';
import { librarySecret, librarySecrets } from './second-factor-secrets.ts';

/** The one provider that can be configured; the name stands in its callback address. */
export const oidcProviderId = 'oidc';

type Oidc = NonNullable<Config['oidc']>;

export type LibraryInput = {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly baseUrl: string;
  readonly isSecure: boolean;
  readonly appName: string;
  /** null: none is configured, or it is not needed. */
  readonly oidc: Oidc | null;
  /** Whether somebody whom a provider names, and who is no user yet, may become one: a code of why not. */
  readonly refusalOf: (email: string) => Promise<string | null>;
  readonly onSignIn: (userId: string) => Promise<void>;
  readonly ownChangeRow: OwnChangeRow;
  readonly clock: Clock;
};

export type Library = Awaited<ReturnType<typeof openLibrary>>;

export async function openLibrary(input: LibraryInput) {
  const { betterAuth, getAdapter, createAuthEndpoint, setSessionCookie, ...plugins } = await load();
  const secret = librarySecret(input.secrets[0]);
  const options = {
    ...libraryOptions({ ...input, secret }),
    secrets: librarySecrets(input.secrets),
    user: { ...libraryOptions({ ...input, secret }).user, validateUserInfo: validateUserInfo(input) },
    databaseHooks: {
      // Nothing is asked of the provider afterwards, so what it gives is not kept.
      account: {
        create: { before: async (account) => ({ data: { ...account, accessToken: null, refreshToken: null, idToken: null } }) },
      },
      session: { create: { after: async ({ userId }) => input.onSignIn(userId) } },
    },
    plugins: [
      plugins.twoFactor({
        schema: twoFactorSchema,
        backupCodeOptions: { storeBackupCodes: hashedCodes(input.secrets[0]) },
        // Ours count each try before it is looked at.
        accountLockout: { enabled: false },
      }),
      plugins.genericOAuth({ config: input.oidc === null ? [] : [providerOf(input.oidc)] }),
      {
        id: 'tollgate',
        schema: auditSchema,
        endpoints: {
          /** Signs a user in who has proved himself in a way of ours. */
          startSession: createAuthEndpoint.serverOnly(
            { method: 'POST', body: userToSignIn, requireHeaders: true },
            async (ctx) => {
              const user = await ctx.context.internalAdapter.findUserById(ctx.body.userId);
              const session = user && (await ctx.context.internalAdapter.createSession(user.id));
              if (!session) throw new Error('a session was asked for a user who is not there');
              await setSessionCookie(ctx, { session, user });
              return ctx.json({ token: session.token });
            },
          ),
          /** Who has given his password and owes the second factor; null: nobody. */
          findChallenged: createAuthEndpoint.serverOnly({ method: 'POST', requireHeaders: true }, async (ctx) => {
            const cookie = ctx.context.createAuthCookie('two_factor');
            const challenge = await ctx.getSignedCookie(cookie.name, ctx.context.secret);
            const found = challenge ? await ctx.context.internalAdapter.findVerificationValue(challenge) : null;
            return found && found.expiresAt.getTime() > input.clock.nowMs() ? found.value : null;
          }),
        },
      },
    ],
  } satisfies BetterAuthOptions;
  const type = isPostgresUrl(input.database.url) ? 'postgres' : 'sqlite';
  const { write } = input.database;
  // A part of the caller's transaction cannot have one of its own.
  const adapter = await getAdapter({ ...options, database: { db: write, type, transaction: !write.isTransaction } });
  return betterAuth({ ...options, database: () => withHashedTokens(withAuditedLinks(adapter, input.ownChangeRow)) });
}

async function load() {
  const [{ betterAuth }, { getAdapter }, { createAuthEndpoint }, { setSessionCookie }, { twoFactor }, { genericOAuth }] =
    await Promise.all([
      import('better-auth'),
      import('better-auth/db/adapter'),
      import('better-auth/api'),
      import('better-auth/cookies'),
      import('better-auth/plugins/two-factor'),
      import('better-auth/plugins/generic-oauth'),
    ]);
  return { betterAuth, getAdapter, createAuthEndpoint, setSessionCookie, twoFactor, genericOAuth };
}

/** Only our own code calls it. */
const userToSignIn: StandardSchemaV1<{ readonly userId: string }> = {
  '~standard': { version: 1, vendor: 'tollgate', validate: (value) => ({ value: value as { readonly userId: string } }) },
};

type UserInfoRule = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>;

/** An address that a provider does not vouch for could be anybody's. */
function validateUserInfo({ refusalOf }: LibraryInput): UserInfoRule {
  return async ({ user, source }) => {
    if (source.method !== 'oauth' || source.action === 'sign-in') return;
    if (user.emailVerified !== true) return { error: 'email_not_verified' };
    if (source.action !== 'create-user') return;
    const refusal = await refusalOf(String(user.email));
    return refusal === null ? undefined : { error: refusal };
  };
}

function providerOf({ issuer, client_id, client_secret, name, scopes }: Oidc) {
  return {
    providerId: oidcProviderId,
    name,
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    requireIdTokenVerification: true,
    clientId: client_id,
    clientSecret: client_secret,
    scopes: [...scopes],
    pkce: true,
    mapProfileToUser: (profile: Readonly<Record<string, unknown>>) => {
      const { email: address, name: given } = profile;
      const email = typeof address === 'string' ? address : '';
      return {
        email: email === '' ? undefined : email.toLowerCase(),
        emailVerified: profile['email_verified'] === true,
        name: typeof given === 'string' && given.trim() !== '' ? given.slice(0, 100) : email.split('@')[0],
        image: undefined,
      };
    },
  };
}

/** The library compares what it is given with what it has: codes are digested on both ways, those it puts back are already. */
function hashedCodes(secret: Secret) {
  return {
    encrypt: async (json: string) => digestBackupCodes(secret, json),
    decrypt: async (stored: string) => stored,
  };
}
