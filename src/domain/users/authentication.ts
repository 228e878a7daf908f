// Authentication: sessions, passwords, the second factor and the identity provider, through the
// sign-in library. Results are converted to our own types. The library's error texts and session
// tokens stay in here; only its cookies leave.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Config } from '../../config/schema.ts';
import type { Database } from '../../db/database.ts';
import { type Clock, timeLimit } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { Secrets } from '../../lib/secrets.ts';
import { withOneSlash } from '../../lib/one-slash.ts';
import { isInvited } from './invitations.ts';
import { hasPassword, isSecondFactorSet } from './members.ts';
import type { OwnChangeRow } from './library-adapter.ts';
import { findBackupCode, readBackupCodes, replaceBackupCodes } from './backup-codes.ts';
import {
  oidcProviderId,
  openLibrary,
  type Library,
  type LibraryInput,
  type NewSession,
} from './library.ts';
import { addressHeader } from './library-options.ts';
import { digestOf } from './one-time-link.ts';
import {
  giveOwnAccount,
  payPromisedCredit,
  type CreditOnce,
  type MakeAccount,
} from './own-account.ts';
import { withCurrentSignatures } from './re-signed-cookies.ts';
import { librarySecret } from './second-factor-secrets.ts';
import type { Session } from './session.ts';
import { withOwnState, withSharedState } from './state-cookies.ts';

export type Client = {
  readonly cookie: string;
  readonly userAgent: string;
  readonly address: string;
  /** True when the browser is known to use https. */
  readonly isSecure: boolean;
};

/** `cookies`: lines for `Set-Cookie`. */
type WithCookies<Result> = { readonly result: Result; readonly cookies: readonly string[] };

export type AuthenticationInput = {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly config: Config;
  /** The dashboard's base URL, without a slash at its end. */
  readonly publicUrl: () => string;
  readonly log: Logger;
  readonly makeAccount: MakeAccount;
  readonly creditOnce: CreditOnce;
  readonly ownChangeRow: OwnChangeRow;
  readonly clock: Clock;
};

/** Of the authenticator app, or a backup code. */
type GivenCode = {
  readonly kind: 'totp' | 'backup';
  readonly code: string;
  readonly userId: string;
};

type SecondFactorStart = {
  readonly uri: string;
  readonly secret: string;
  readonly backupCodes: readonly string[];
};

type LibraryCall = (
  library: Library,
  request: { readonly headers: Headers; readonly asResponse: true },
) => Promise<Response>;

/** `body` has the `code` of a refusal. */
type Answer = {
  readonly isOk: boolean;
  readonly body: Readonly<Record<string, unknown>>;
  readonly cookies: readonly string[];
};

/** The identity provider did not answer. */
export class ProviderAway extends Error {}

/** Collects what the library learns while a browser returns from the provider. */
type Arrival = { signedInAtMs?: number; sessionId?: string };

/** A sign-in at the provider is fresh for so long. Its clock may differ from ours. */
const freshMs = 2 * 60_000;
const callbackPath = '/dashboard-api/auth';
/** A code is valid for its own half minute and for the ones before and after it. */
const codeLifetimeMs = 90_000;
const discoveryTimeoutMs = 10_000;
/**
 * The library lets a browser with this cookie skip the second factor. We never set it, so a browser
 * that sends one forged it with the secret.
 */
const trustCookie = 'trust_device';
const sessionCookie = 'session_token';

export class Authentication {
  readonly #input: AuthenticationInput;
  readonly #libraries = new Map<string, Promise<Library>>();
  readonly #cookieKeys: readonly string[];
  readonly #arrivals = new AsyncLocalStorage<Arrival>();

  constructor(input: AuthenticationInput) {
    this.#input = input;
    this.#cookieKeys = input.secrets.map(librarySecret);
  }

  /** `result`: null when nobody is signed in. A session is renewed once a day. */
  async findSession(client: Client): Promise<WithCookies<Session | null>> {
    // Most requests without a session come from programs that never have one. The library is not
    // loaded for them.
    if (!client.cookie.includes('session_token=')) return { result: null, cookies: [] };
    const { api } = await this.#library(client);
    const { response, headers } = await api.getSession({
      headers: this.#headersOf(client),
      returnHeaders: true,
    });
    const cookies = headers.getSetCookie();
    if (!response) return { result: null, cookies };
    const { session, user } = response;
    const rows = await this.#input.database.read
      .selectFrom('users')
      .leftJoin('account_members', 'account_members.user_id', 'users.id')
      .leftJoin('accounts', 'accounts.id', 'account_members.account_id')
      .select([
        'users.is_operator',
        'users.two_factor_enabled',
        'account_members.account_id',
        'account_members.role',
        'accounts.requires_second_factor',
      ])
      .select(hasPassword.as('has_password'))
      .where('users.id', '=', user.id)
      .orderBy('account_members.created_at_ms')
      .orderBy('account_members.account_id')
      .execute();
    const memberships = rows.flatMap(({ account_id: accountId, role, ...row }) => {
      const requiresSecondFactor = row.requires_second_factor === 1;
      return accountId && role ? [{ accountId, role, requiresSecondFactor }] : [];
    });
    const [own] = rows;
    const isOperator = own?.is_operator === 1;
    const hasSecondFactor = own !== undefined && isSecondFactorSet(own);
    return {
      result: {
        id: session.id,
        userId: user.id,
        email: user.email,
        name: user.name,
        isOperator,
        hasSecondFactor,
        memberships,
      },
      cookies,
    };
  }

  /**
   * Signs in with a password. An unknown e-mail address takes the same time and gets the same
   * result as a wrong password. Throws PasswordsBusy.
   */
  async signIn(
    client: Client,
    { email, password }: { readonly email: string; readonly password: string },
  ): Promise<WithCookies<'done' | 'second-factor' | 'wrong'>> {
    const { isOk, body, cookies } = await this.#ask(client, ({ api }, request) =>
      api.signInEmail({ body: { email, password }, ...request }),
    );
    if (!isOk) return { result: 'wrong', cookies: [] };
    return { result: body['twoFactorRedirect'] ? 'second-factor' : 'done', cookies };
  }

  /**
   * Returns the user who has sent a password and still has to send the second factor; null when
   * there is none or the time is over.
   */
  async findChallenged(client: Client): Promise<string | null> {
    const { api } = await this.#library(client);
    return api.findChallenged({ headers: this.#headersOf(withoutSession(client)) });
  }

  /**
   * Checks the code of a second factor. It works once, even within its half minute. `over`: the
   * user must send the password again.
   */
  async giveSecondFactor(
    client: Client,
    { kind, code, userId }: GivenCode,
  ): Promise<WithCookies<'done' | 'wrong' | 'over'>> {
    const digest = kind === 'backup' ? await this.#digestOfCode(userId, code) : '';
    const { isOk, body, cookies } = await this.#ask(
      withoutSession(client),
      kind === 'totp'
        ? sendCode(code)
        : ({ api }, request) => api.verifyBackupCode({ body: { code: digest }, ...request }),
    );
    if (!isOk) {
      const isOver =
        body['code'] === 'INVALID_TWO_FACTOR_COOKIE' ||
        body['code'] === 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE';
      return { result: isOver ? 'over' : 'wrong', cookies };
    }
    if (kind === 'backup' || (await this.#useCode(userId, code)))
      return { result: 'done', cookies };
    await this.#input.database.write
      .deleteFrom('user_sessions')
      .where('token', '=', digestOf(String(body['token'])))
      .execute();
    return { result: 'over', cookies: [] };
  }

  /**
   * Signs in a user who was authenticated in another way. Always starts a new session, whatever
   * cookie the client sent.
   */
  async startSession(client: Client, userId: string): Promise<readonly string[]> {
    const { isOk, cookies } = await this.#ask(client, ({ api }, request) =>
      api.startSession({ body: { userId }, ...request }),
    );
    if (!isOk) throw new Error('the sign-in library started no session');
    return cookies;
  }

  async signOut(client: Client): Promise<readonly string[]> {
    const { cookies } = await this.#ask(client, ({ api }, request) => api.signOut(request));
    return cookies;
  }

  /**
   * Creates a second factor. Sign-ins need no code until `confirmSecondFactor`. `is-on`: the user
   * already has one.
   */
  async startSecondFactor(
    client: Client,
    password: string,
  ): Promise<WithCookies<SecondFactorStart | 'wrong' | 'is-on'>> {
    const { isOk, body, cookies } = await this.#ask(client, ({ api }, request) =>
      api.enableTwoFactor({ body: { password, method: 'totp' }, ...request }),
    );
    if (!isOk)
      return { result: body['code'] === 'TOTP_ALREADY_ENABLED' ? 'is-on' : 'wrong', cookies: [] };
    const { totpURI: uri, backupCodes } = body as { totpURI: string; backupCodes: string[] };
    const secret = new URL(uri).searchParams.get('secret')!;
    return { result: { uri, secret, backupCodes }, cookies };
  }

  /** `database`: the transaction of the change. */
  async confirmSecondFactor(
    database: Database,
    client: Client,
    { userId, code }: { readonly userId: string; readonly code: string },
  ): Promise<WithCookies<'done' | 'wrong'>> {
    // A user who has a session already got what `onSignIn` gives.
    const onSignIn = async () => {};
    const library = openLibrary({ ...this.#settings(client), database, onSignIn });
    const { isOk, cookies } = await this.#ask(client, sendCode(code), library);
    if (!isOk) return { result: 'wrong', cookies: [] };
    await this.#useCode(userId, code, database);
    return { result: 'done', cookies };
  }

  /**
   * Checks a code of the signed-in user, whose second factor must be on. A code of the app works
   * once; a backup code is not used up.
   */
  async isRightCode(client: Client, { kind, code, userId }: GivenCode): Promise<boolean> {
    if (kind === 'backup') return (await this.#digestOfCode(userId, code)) !== '';
    const { isOk } = await this.#ask(client, sendCode(code));
    return isOk && (await this.#useCode(userId, code));
  }

  /**
   * Replaces the backup codes in the transaction of the change; the earlier codes stop working.
   * Returns null when the user has no second factor.
   */
  newBackupCodes(
    { write }: Pick<Database, 'write'>,
    userId: string,
  ): Promise<readonly string[] | null> {
    return replaceBackupCodes(write, this.#input.secrets[0], userId);
  }

  async backupCodesLeft(userId: string): Promise<number> {
    return (await readBackupCodes(this.#input.database.read, userId)).length;
  }

  /**
   * Returns the URL to send the browser to. `next`: the dashboard path to return to. `isFresh`: the
   * provider is to ask for the sign-in, even if the user is signed in there, and to say when it was.
   * Throws ProviderAway.
   */
  async startProvider(
    client: Client,
    { next, isFresh }: { readonly next: string; readonly isFresh: boolean },
  ): Promise<WithCookies<string>> {
    const { api } = await this.#libraryWithProvider(client);
    const body = {
      provider: oidcProviderId,
      callbackURL: next,
      errorCallbackURL: '/sign-in',
      disableRedirect: true,
    };
    const response = await api.signInSocial({
      body,
      headers: this.#headersOf(client),
      asResponse: true,
    });
    if (!response.ok) throw new ProviderAway('the identity provider is not available');
    const url = new URL(((await response.json()) as { readonly url: string }).url);
    if (isFresh) {
      url.searchParams.set('prompt', 'login');
      url.searchParams.set('max_age', '0');
    }
    const state = url.searchParams.get('state') ?? '';
    return { result: url.href, cookies: withOwnState(response.headers.getSetCookie(), state) };
  }

  /**
   * Handles the browser's return from the provider. `path`: where to send it, with `?error=` when the
   * sign-in failed. `freshSession`: the id of the new session, if the provider says that the user
   * has just signed in there; else null. Throws ProviderAway.
   */
  async finishProvider(
    client: Client,
    query: string,
  ): Promise<WithCookies<{ readonly path: string; readonly freshSession: string | null }>> {
    const library = await this.#libraryWithProvider(client);
    const url = `${this.#input.publicUrl()}${callbackPath}/callback/${oidcProviderId}?${query}`;
    const state = new URLSearchParams(query).get('state') ?? '';
    const headers = this.#headersOf({ ...client, cookie: withSharedState(client.cookie, state) });
    const arrival: Arrival = {};
    const response = await this.#arrivals.run(arrival, () =>
      library.handler(new Request(url, { headers })),
    );
    const { signedInAtMs = 0, sessionId = null } = arrival;
    const isFresh = Math.abs(this.#input.clock.nowMs() - signedInAtMs) <= freshMs;
    return {
      result: {
        path: pathAfterProvider(response.headers.get('location')),
        freshSession: isFresh ? sessionId : null,
      },
      cookies: withOwnState(response.headers.getSetCookie(), state),
    };
  }

  /**
   * Returns the stored digest, which is the code that the library knows. An empty string, which
   * never matches, when the user has no such code.
   */
  async #digestOfCode(userId: string, code: string): Promise<string> {
    const { database, secrets } = this.#input;
    return findBackupCode(secrets, code, await readBackupCodes(database.read, userId)) ?? '';
  }

  /** Calls the library for a client. Throws when it fails; a refusal is an answer. */
  async #ask(client: Client, call: LibraryCall, library = this.#library(client)): Promise<Answer> {
    const request = { headers: this.#headersOf(client), asResponse: true } as const;
    const response = await call(await library, request);
    if (response.status >= 500) throw new Error(`the sign-in library failed: ${response.status}`);
    return {
      isOk: response.ok,
      body: (await response.json()) as Answer['body'],
      cookies: response.headers.getSetCookie(),
    };
  }

  #library(client: Client, oidc: Config['oidc'] = null): Promise<Library> {
    const name = `${this.isSecure(client) ? 'https' : 'http'} ${oidc === null ? '' : 'oidc'}`;
    let library = this.#libraries.get(name);
    if (!library) {
      library = openLibrary({ ...this.#settings(client), oidc });
      library.catch(() => this.#libraries.delete(name));
      this.#libraries.set(name, library);
    }
    return library;
  }

  /** Returns true when browsers use https, so that cookies can be limited to it. */
  isSecure(client: Pick<Client, 'isSecure'>): boolean {
    return client.isSecure || this.#input.publicUrl().startsWith('https:');
  }

  #headersOf({ cookie, userAgent, address }: Client): Headers {
    const signed = withCurrentSignatures(withoutCookie(cookie, trustCookie), this.#cookieKeys);
    return new Headers({
      cookie: signed,
      'user-agent': userAgent.slice(0, 300),
      [addressHeader]: address,
    });
  }

  #settings(client: Client): LibraryInput {
    const { config, database, secrets, publicUrl, ownChangeRow, clock } = this.#input;
    return {
      database,
      secrets,
      ownChangeRow,
      oidc: null,
      isSecure: this.isSecure(client),
      baseUrl: publicUrl() + callbackPath,
      appName: config.service.name,
      refusalOf: (email) => this.#refusalOf(email),
      onSignIn: (session) => this.#onSignIn(session),
      onProviderClaims: ({ auth_time: seconds }) => {
        const arrival = this.#arrivals.getStore();
        if (arrival && typeof seconds === 'number') arrival.signedInAtMs = seconds * 1_000;
      },
      clock,
    };
  }

  /**
   * Opens the library with the provider. It is separate from the one without, because creating it
   * contacts the provider. When that fails, the next call tries again.
   */
  async #libraryWithProvider(client: Client): Promise<Library> {
    const opening = this.#library(client, this.#input.config.oidc);
    const isReady = opening.then(
      async (library) => (await library.$context).socialProviders.length > 0,
    );
    if (await Promise.race([isReady, timeLimit(this.#input.clock, discoveryTimeoutMs)]))
      return opening;
    for (const [name, library] of this.#libraries)
      if (library === opening) this.#libraries.delete(name);
    throw new ProviderAway('the discovery document of the identity provider could not be read');
  }

  async #refusalOf(email: string): Promise<string | null> {
    const { config, database, clock } = this.#input;
    return config.signup.open || (await isInvited(database.read, email, clock.nowMs()))
      ? null
      : 'signup_closed';
  }

  /**
   * Creates an account for a user who has none when sign-up is open, and pays the credit that was
   * promised.
   */
  async #onSignIn({ id: sessionId, userId }: NewSession): Promise<void> {
    Object.assign(this.#arrivals.getStore() ?? {}, { sessionId } satisfies Arrival);
    const { config, database, log, makeAccount, creditOnce } = this.#input;
    try {
      if (config.signup.open) await this.#openSignUpAccount(userId, makeAccount);
      await payPromisedCredit(database, userId, {
        creditOnce,
        mustProveEmail: config.smtp !== null,
      });
    } catch (err) {
      log.error(
        { err, user_id: userId },
        'the account of a new user could not be created or credited; the next sign-in tries again',
      );
    }
  }

  async #openSignUpAccount(userId: string, makeAccount: MakeAccount): Promise<void> {
    const { config, database, ownChangeRow, clock } = this.#input;
    const user = await database.read
      .selectFrom('users')
      .leftJoin('account_members', 'account_members.user_id', 'users.id')
      .select(['users.name', 'users.email', 'users.own_account_id', 'account_members.role'])
      .where('users.id', '=', userId)
      .executeTakeFirst();
    if (!user || user.own_account_id !== null || user.role !== null) return;
    if (await isInvited(database.read, user.email, clock.nowMs())) return;
    const { initial_credit_usd: creditUsd } = config.signup;
    const { name, email } = user;
    await database.write.transaction().execute(async (transaction) => {
      const terms = { makeAccount, creditUsd, nowMs: clock.nowMs() };
      const accountId = await giveOwnAccount(transaction, { id: userId, name }, terms);
      if (accountId === null) return;
      const row = ownChangeRow({
        action: 'account.create',
        user: { id: userId, email },
        accountId,
        after: { owner: email },
      });
      await transaction.insertInto('audit_log').values(row).execute();
    });
  }

  /** Returns true for the first use of the code. */
  async #useCode(
    userId: string,
    code: string,
    { write }: Pick<Database, 'write'> = this.#input.database,
  ): Promise<boolean> {
    const nowMs = this.#input.clock.nowMs();
    await write
      .deleteFrom('used_codes')
      .where('used_at_ms', '<', nowMs - 2 * codeLifetimeMs)
      .execute();
    const inserted = await write
      .insertInto('used_codes')
      .values({ user_id: userId, code, used_at_ms: nowMs })
      .onConflict((conflict) => conflict.columns(['user_id', 'code']).doNothing())
      .returning('code')
      .executeTakeFirst();
    return inserted !== undefined;
  }
}

/** Has a code of the authenticator app checked. */
function sendCode(code: string): LibraryCall {
  return ({ api }, request) => api.verifyTOTP({ body: { code }, ...request });
}

/**
 * Removes the session cookie: a signed-in user who signs in as somebody else is asked for the other
 * user's code.
 */
function withoutSession(client: Client): Client {
  return { ...client, cookie: withoutCookie(client.cookie, sessionCookie) };
}

/** Reads names as the library does: surrounding white space is ignored. */
function withoutCookie(cookie: string, name: string): string {
  const names = [`tollgate.${name}`, `__Host-tollgate.${name}`];
  const pairs = cookie.split(';').filter((pair) => !names.includes(pair.split('=')[0]!.trim()));
  return pairs.join(';');
}

const errorCodes: Readonly<Record<string, string>> = {
  signup_closed: 'signup_closed',
  email_not_verified: 'email_not_verified',
  email_not_found: 'email_not_verified',
  account_not_linked: 'account_not_linked',
};

/** Returns only paths of the dashboard, whatever the library makes of the provider's answer. */
function pathAfterProvider(location: string | null): string {
  if (location === null) return '/sign-in?error=oidc_failed';
  const { pathname, search, searchParams } = new URL(location, 'http://dashboard.invalid');
  const error = searchParams.get('error');
  return error === null
    ? withOneSlash(pathname) + search
    : `/sign-in?error=${errorCodes[error] ?? 'oidc_failed'}`;
}
