// A user signed in to the dashboard of a started program, without using the sign-in pages.
//
//   const owner = await signIn(gateway, { role: 'owner' });
//   const reply = await owner.get(`/accounts/${owner.account}/keys?mode=live`);
import { argon2Sync, createHmac, randomBytes } from 'node:crypto';
import { openAccount } from '../../src/management/changes/accounts.ts';
import { loadSecrets } from '../../src/config/secret.ts';
import type { Database } from '../../src/db/database.ts';
import type { Role } from '../../src/db/schema.ts';
import { newIdWithPrefix } from '../../src/lib/ids.ts';
import { deriveKey } from '../../src/lib/secrets.ts';
import { addMember } from '../../src/domain/users/members.ts';
import { digestOf } from '../../src/domain/users/one-time-link.ts';
import { Challenges } from '../../src/domain/users/passkeys/challenges.ts';
import { insertUser } from '../../src/domain/users/user-records.ts';
import { jsonOf, send, type Reply, type SendOptions } from './http.ts';
import type { Program } from './program.ts';
import { rowOf } from './rows.ts';

/** A `TestGateway`, or the parts of one that a test put together. */
export type DashboardPlace = {
  readonly program: Pick<Program, 'env' | 'dataDir' | 'url' | 'clock'>;
  readonly database: Database;
};

export type SignInOptions = {
  /** The role in the account; default `owner`. null: no account. */
  readonly role?: Role | null;
  /** An existing account; by default a new one is made. */
  readonly account?: string;
  readonly operator?: boolean;
  readonly email?: string;
  readonly name?: string;
  /** A `quickHash`; left out: no password. */
  readonly passwordHash?: string;
};

/**
 * Calls the dashboard's API as a signed-in browser does. Paths are relative to `/dashboard-api`.
 */
export class DashboardClient {
  readonly #url: string;
  /**
   * Each client has its own address, so that clients do not share a sign-in limit when the program
   * trusts its proxy.
   */
  readonly #address = nextAddress();
  /** The `Cookie` header; answers update it. */
  cookie: string;
  readonly account: string;
  readonly userId: string;
  readonly email: string;
  /** Returns the cookie that confirms one call, as after a fresh sign-in at a provider. */
  readonly #confirm: ((cookie: string) => Promise<string>) | undefined;

  constructor(
    url: string,
    who: {
      readonly cookie: string;
      readonly account: string;
      readonly userId: string;
      readonly email: string;
      readonly confirm?: (cookie: string) => Promise<string>;
    },
  ) {
    this.#url = url;
    this.#confirm = who.confirm;
    this.cookie = who.cookie;
    this.account = who.account;
    this.userId = who.userId;
    this.email = who.email;
  }

  get(path: string): Promise<Reply> {
    return this.send('GET', path);
  }

  post(path: string, body?: object): Promise<Reply> {
    return this.send('POST', path, { body });
  }

  patch(path: string, body: object): Promise<Reply> {
    return this.send('PATCH', path, { body });
  }

  delete(path: string): Promise<Reply> {
    return this.send('DELETE', path);
  }

  /**
   * Sends cookies from earlier answers with the next call, as a browser does. Confirms calls that
   * ask for it, as the web app does.
   */
  async send(method: string, path: string, options: Sent = {}): Promise<Reply> {
    const reply = await this.sendUnconfirmed(method, path, options);
    if (!this.#confirm || reply.status !== 403) return reply;
    if (reply.error.code !== 'confirmation_required') return reply;
    return this.sendUnconfirmed(method, path, options, await this.#confirm(this.cookie));
  }

  /** Sends a call as a thief of the session could. */
  async sendUnconfirmed(
    method: string,
    path: string,
    { headers, ...options }: Sent = {},
    proof = '',
  ): Promise<Reply> {
    const cookie = [this.cookie, proof].filter((one) => one !== '').join('; ');
    const own = {
      'x-forwarded-for': this.#address,
      ...(cookie !== '' && { cookie }),
      ...(method !== 'GET' && { origin: new URL(this.#url).origin }),
    };
    const reply = await send(`${this.#url}/dashboard-api${path}`, {
      ...options,
      method,
      headers: { ...own, ...headers },
    });
    this.cookie = withCookies(this.cookie, reply);
    return reply;
  }
}

type Sent = Omit<SendOptions, 'method' | 'key'>;

let addresses = 0;

function nextAddress(): string {
  addresses += 1;
  return `10.${process.pid % 250}.${Math.floor(addresses / 250)}.${addresses % 250}`;
}

/** Creates a user with a session directly in the database. */
export async function signIn(
  place: DashboardPlace,
  options: SignInOptions = {},
): Promise<DashboardClient> {
  const { program, database } = place;
  const email = options.email ?? `${newIdWithPrefix('u')}@example.com`;
  const account =
    options.account ??
    (await openAccount(database.write, { name: 'Test' }, program.clock.nowMs())).id;
  const role = options.role === undefined ? 'owner' : options.role;
  const nowMs = program.clock.nowMs();
  const userId = await database.write.transaction().execute(async (transaction) => {
    const user = {
      name: options.name ?? 'Test User',
      email,
      passwordHash: options.passwordHash ?? null,
      isEmailVerified: true,
    };
    const id = await insertUser(transaction, { ...user, isOperator: options.operator }, nowMs);
    if (id === null) throw new Error(`${email} is a user already`);
    if (role !== null)
      await addMember(transaction, { accountId: account, userId: id, role }, nowMs);
    return id;
  });
  const cookie = await startSession(place, userId);
  const confirm = (current: string) => confirmationOf(place, current);
  return new DashboardClient(program.url, { cookie, account, userId, email, confirm });
}

/** Returns the rows of all pages. `path` has a query. */
export async function everyRow<Row>(
  get: (path: string) => Promise<Reply>,
  path: string,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const sent = get(`${path}&cursor=${encodeURIComponent(cursor)}`);
    const page: { data: Row[]; next_cursor: string | null } = await jsonOf(sent);
    rows.push(...page.data);
    cursor = page.next_cursor;
  }
  return rows;
}

/** Invites somebody to the client's account. `token`: of the link that the inviter sees. */
export async function invite(by: DashboardClient, email: string, role: Role = 'member') {
  const sent = by.post(`/accounts/${by.account}/invitations`, { email, role });
  const made = await jsonOf<{ id: string; link: string; mailed: boolean }>(sent);
  return { ...made, token: tokenOf(made) };
}

/** The token of a link that signs in, resets a password or accepts an invitation. */
export function tokenOf({ link }: { readonly link: string }): string {
  return new URL(link).searchParams.get('token')!;
}

async function confirmationOf(
  { program, database }: DashboardPlace,
  cookie: string,
): Promise<string> {
  const [, token = ''] = /session_token=([\w-]+)/.exec(cookie) ?? [];
  const { id } = await rowOf(database, 'user_sessions', { token: digestOf(token) });
  const secrets = loadSecrets(program.env, program.dataDir, { isShared: false });
  const proofs = new Challenges(secrets);
  const proof = proofs.make(`signed in at the provider ${id}`, program.clock.nowMs());
  return `tollgate.confirmed=${proof}`;
}

/** A password hash with minimal cost parameters, for users whose password is not tested. */
export function quickHash(password: string): string {
  const nonce = randomBytes(16);
  const tag = argon2Sync('argon2id', {
    message: password,
    nonce,
    memory: 8,
    passes: 1,
    parallelism: 1,
    tagLength: 32,
  });
  const [salt, digest] = [nonce, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${digest}`;
}

/** A client that is not signed in. */
export function visitor({ program }: Pick<DashboardPlace, 'program'>): DashboardClient {
  return new DashboardClient(program.url, { cookie: '', account: '', userId: '', email: '' });
}

/** Sorted, because parallel calls have no order. */
export function statusesOf(replies: readonly Reply[]): number[] {
  return replies.map(({ status }) => status).toSorted((one, other) => one - other);
}

/** Returns a new session's cookie as the program sets it. */
async function startSession(
  { program, database }: DashboardPlace,
  userId: string,
): Promise<string> {
  const token = randomBytes(24).toString('base64url');
  const now = new Date(program.clock.nowMs());
  // The sign-in library uses the system's time; the rest of the gateway uses its clock.
  const latestMs = Math.max(now.getTime(), Date.now());
  await database.write
    .insertInto('user_sessions')
    .values({
      id: newIdWithPrefix('ses'),
      user_id: userId,
      token: digestOf(token),
      ip_address: '127.0.0.1',
      user_agent: 'tests',
      created_at: now.toISOString(),
      updated_at: now.toISOString(),
      expires_at: new Date(latestMs + 7 * 24 * 60 * 60_000).toISOString(),
    })
    .execute();
  const [secret] = loadSecrets(program.env, program.dataDir, { isShared: false });
  const key = deriveKey(secret, 'sign-in').toString('hex');
  const signature = createHmac('sha256', key).update(token).digest('base64');
  return `tollgate.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
}

function withCookies(cookie: string, reply: Reply): string {
  const jar = new Map(
    cookie === '' ? [] : cookie.split('; ').map((pair) => pair.split(/=(.*)/s) as [string, string]),
  );
  for (const line of reply.headers['set-cookie'] ?? []) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    if (/max-age=0(?:;|$)/i.test(line)) jar.delete(name!);
    else jar.set(name!, value!);
  }
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
}
