// Options of the sign-in library (better-auth): our tables, ids, cookies and password hashes. The
// library is loaded on the first request that needs it, because loading it doubles the start time.
import type { BetterAuthOptions } from 'better-auth';
import { newIdWithPrefix } from '../../lib/ids.ts';
import {
  hashPassword,
  passwordCharactersMax,
  passwordCharactersMin,
  verifyPassword,
} from './password.ts';

/**
 * The header that carries the client's address to the library, which would otherwise trust any
 * `X-Forwarded-For`.
 */
export const addressHeader = 'x-tollgate-client-address';

const sessionDays = 7;
const daySeconds = 24 * 60 * 60;

type LibrarySettings = {
  /** Includes the path of the library's own routes. */
  readonly baseUrl: string;
  readonly secret: string;
  /** True when browsers use https, so that cookies can be limited to it and to this host. */
  readonly isSecure: boolean;
  /** Shown beside the code in an authenticator app. */
  readonly appName: string;
};

const idPrefixes: Readonly<Record<string, string>> = {
  user: 'usr',
  session: 'ses',
  account: 'crd',
  verification: 'ver',
  twoFactor: '2fa',
};

const times = { createdAt: 'created_at', updatedAt: 'updated_at' };

/** Everything but the database and the plugins. */
export function libraryOptions({ baseUrl, secret, isSecure, appName }: LibrarySettings) {
  return {
    appName,
    baseURL: baseUrl,
    secret,
    telemetry: { enabled: false },
    // Our own rate limits count in the database and know the client's address.
    rateLimit: { enabled: false },
    logger: { disabled: true },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordCharactersMin,
      maxPasswordLength: passwordCharactersMax,
      password: { hash: hashPassword, verify: verifyPassword },
    },
    user: { modelName: 'users', fields: { emailVerified: 'email_verified', ...times } },
    session: {
      modelName: 'user_sessions',
      fields: {
        userId: 'user_id',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        expiresAt: 'expires_at',
        ...times,
      },
      expiresIn: sessionDays * daySeconds,
      updateAge: daySeconds,
    },
    account: {
      modelName: 'user_credentials',
      fields: {
        userId: 'user_id',
        providerId: 'provider_id',
        accountId: 'account_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        ...times,
      },
      updateAccountOnSignIn: false,
      accountLinking: { enabled: true, trustedProviders: [], allowDifferentEmails: false },
    },
    verification: {
      modelName: 'user_verifications',
      fields: { expiresAt: 'expires_at', ...times },
      storeIdentifier: 'hashed',
    },
    advanced: {
      database: {
        generateId: ({ model }) => newIdWithPrefix(idPrefixes[model] ?? model),
        validateSchema: false,
      },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      cookiePrefix: isSecure ? '__Host-tollgate' : 'tollgate',
      // The library's prefix is `__Secure-`, which does not bind a cookie to the host.
      useSecureCookies: false,
      // As long as the library keeps the state itself: a provider may ask for a new password first.
      cookies: { state: { attributes: { maxAge: 10 * 60 } } },
      defaultCookieAttributes: { secure: isSecure, httpOnly: true, sameSite: 'lax', path: '/' },
    },
  } satisfies BetterAuthOptions;
}

/** The second factor's table. */
export const twoFactorSchema = {
  user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
  twoFactor: {
    modelName: 'user_two_factors',
    fields: {
      userId: 'user_id',
      backupCodes: 'backup_codes',
      failedVerificationCount: 'failed_verification_count',
      lockedUntil: 'locked_until',
    },
  },
};
