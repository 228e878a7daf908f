// Sets up the sign-in library (better-auth) with our tables, hashed tokens, the second factor and
// the configured identity provider.
import type { BetterAuthOptions } from 'better-auth';
import type { Config } from '../../config/schema.ts';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Secret, Secrets } from '../../lib/secrets.ts';
import { digestBackupCodes } from './backup-codes.ts';
import { openAdapter, type OwnChangeRow } from './library-adapter.ts';
import { libraryOptions, twoFactorSchema } from './library-options.ts';
import { librarySecret, librarySecrets } from './second-factor-secrets.ts';

/** The id of the only configurable provider; part of its callback URL. */
export const oidcProviderId = 'oidc';

type Oidc = NonNullable<Config['oidc']>;

export type NewSession = { readonly id: string; readonly userId: string };

export type LibraryInput = {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly baseUrl: string;
  readonly isSecure: boolean;
  readonly appName: string;
  /** null: none is configured, or this instance does not need it. */
  readonly oidc: Oidc | null;
  /**
   * Returns an error code when a person from the provider may not become a user; null when they
   * may.
   */
  readonly refusalOf: (email: string) => Promise<string | null>;
  readonly onSignIn: (session: NewSession) => Promise<void>;
  /** Called with what the provider states about a user, from a verified ID token if it has an address. */
  readonly onProviderClaims: (claims: Readonly<Record<string, unknown>>) => void;
  readonly ownChangeRow: OwnChangeRow;
  readonly clock: Clock;
};

export type Library = Awaited<ReturnType<typeof openLibrary>>;

export async function openLibrary(input: LibraryInput) {
  const [
    { betterAuth },
    { createAuthEndpoint },
    { setSessionCookie },
    { twoFactor },
    { genericOAuth },
  ] = await Promise.all([
    import('better-auth'),
    import('better-auth/api'),
    import('better-auth/cookies'),
    import('better-auth/plugins/two-factor'),
    import('better-auth/plugins/generic-oauth'),
  ]);
  const secret = librarySecret(input.secrets[0]);
  const options = {
    ...libraryOptions({ ...input, secret }),
    secrets: librarySecrets(input.secrets),
    user: {
      ...libraryOptions({ ...input, secret }).user,
      validateUserInfo: validateUserInfo(input),
    },
    databaseHooks: {
      // The provider is never called again after the sign-in, so its tokens are not stored.
      account: {
        create: {
          before: async (account) => ({
            data: { ...account, accessToken: null, refreshToken: null, idToken: null },
          }),
        },
      },
      session: { create: { after: async ({ id, userId }) => input.onSignIn({ id, userId }) } },
    },
    plugins: [
      twoFactor({
        schema: twoFactorSchema,
        backupCodeOptions: { storeBackupCodes: hashedCodes(input.secrets[0]) },
        // Our own limits count each attempt before it is checked.
        accountLockout: { enabled: false },
      }),
      genericOAuth({
        config: input.oidc === null ? [] : [providerOf(input.oidc, input.onProviderClaims)],
      }),
      {
        id: 'tollgate',
        endpoints: {
          /** Signs in a user who was authenticated by our own code. */
          startSession: createAuthEndpoint.serverOnly(
            {
              method: 'POST',
              requireHeaders: true,
              metadata: { $Infer: { body: {} as UserToSignIn } },
            },
            async (ctx) => {
              const user = await ctx.context.internalAdapter.findUserById(ctx.body.userId);
              const session = user && (await ctx.context.internalAdapter.createSession(user.id));
              if (!session) throw new Error('cannot start a session: the user does not exist');
              await setSessionCookie(ctx, { session, user });
              return ctx.json({ token: session.token });
            },
          ),
          /**
           * Returns the id of the user who has sent a password and still has to send the second
           * factor, or null.
           */
          findChallenged: createAuthEndpoint.serverOnly(
            { method: 'POST', requireHeaders: true },
            async (ctx) => {
              const cookie = ctx.context.createAuthCookie('two_factor');
              const challenge = await ctx.getSignedCookie(cookie.name, ctx.context.secret);
              const found = challenge
                ? await ctx.context.internalAdapter.findVerificationValue(challenge)
                : null;
              return found && found.expiresAt.getTime() > input.clock.nowMs() ? found.value : null;
            },
          ),
        },
      },
    ],
  } satisfies BetterAuthOptions;
  const adapter = await openAdapter(options, input.database, input.ownChangeRow);
  return betterAuth({ ...options, database: () => adapter });
}

type UserToSignIn = { readonly userId: string };

type UserInfoRule = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>;

/** Refuses addresses that the provider has not verified: they could be anybody's. */
function validateUserInfo({ refusalOf }: LibraryInput): UserInfoRule {
  return async ({ user, source }) => {
    if (source.method !== 'oauth' || source.action === 'sign-in') return;
    if (user.emailVerified !== true) return { error: 'email_not_verified' };
    if (source.action !== 'create-user') return;
    const refusal = await refusalOf(String(user.email));
    return refusal === null ? undefined : { error: refusal };
  };
}

function providerOf(
  { issuer, client_id, client_secret, name, scopes, trust_email }: Oidc,
  onClaims: LibraryInput['onProviderClaims'],
) {
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
      onClaims(profile);
      const { email: address, email_verified: verified = trust_email, name: given } = profile;
      const email = typeof address === 'string' ? address : '';
      return {
        email: email === '' ? undefined : email.toLowerCase(),
        // Text at Apple and Amazon Cognito.
        emailVerified: verified === true || verified === 'true',
        name:
          typeof given === 'string' && given.trim() !== ''
            ? given.slice(0, 100)
            : email.split('@')[0],
        image: undefined,
      };
    },
  };
}

/**
 * Replaces codes by digests. The library compares the code it is given with the stored ones. Codes
 * are digested when stored and before comparison; digests that the library writes back stay as they
 * are.
 */
function hashedCodes(secret: Secret) {
  return {
    encrypt: async (json: string) => digestBackupCodes(secret, json),
    decrypt: async (stored: string) => stored,
  };
}
