// Somebody signed in to the dashboard of a started program, without the way through the sign-in pages: for tests of everything behind them.
//
//   const owner = await signIn(gateway, { role: 'owner' });
//   const reply = await owner.get(`/accounts/${owner.account}/keys?mode=live`);
import { argon2Sync, createHmac, randomBytes } from 'node:crypto';
import { createAccount } from '../../src/accounts/manage-accounts.ts';
import { loadSecrets } from '../../src/config/secret.ts';
import type { Database } from '../../src/db/database.ts';
import type { Role } from '../../src/db/schema.ts';
import { createLedgers } from '../../src/ledger/create-ledgers.ts';
import { newIdWithPrefix } from '../../src/lib/ids.ts';
import { deriveKey } from '../../src/lib/secrets.ts';
import { addMember } from '../../src/users/members.ts';
import { digestOf } from '../../src/users/one-time-link.ts';
import { insertUser } from '../../src/users/user-records.ts';
import { send, type Reply, type SendOptions } from './http.ts';
import type { Program } from './program.ts';

/** A `TestGateway`, or what a test has put together itself. */
export type DashboardPlace = {
  readonly program: Pick<Program, 'env' | 'dataDir' | 'url' | 'clock'>;
  readonly database: Database;
};

export type SignInOptions = {
  /** In the account; `owner` unless it is said. null: in none. */
  readonly role?: Role | null;
  /** An account that is there; else one of its own is made. */
  readonly account?: string;
  readonly operator?: boolean;
  readonly email?: string;
  readonly name?: string;
  /** Of `quickHash`; left out: there is none. */
  readonly passwordHash?: string;
};

/** Calls the dashboard's API as a browser that is signed in. Paths are relative to `/dashboard-api`. */
export class DashboardClient {
  readonly #url: string;
  /** Of its own, so that clients do not use up each other's tries where the program trusts its proxy. */
  readonly #address = nextAddress();
  /** For `Cookie`; changed by the answers. */
  cookie: string;
  readonly account: string;
  readonly userId: string;
  readonly email: string;

  constructor(
    url: string,
    who: { readonly cookie: string; readonly account: string; readonly userId: string; readonly email: string },
  ) {
    this.#url = url;
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

  /** What is kept of an answer's cookies is sent with the next call, as a browser does. */
  async send(method: string, path: string, { headers, ...options }: Omit<SendOptions, 'method' | 'key'> = {}): Promise<Reply> {
    const own = {
      'x-forwarded-for': this.#address,

      ...(this.cookie !== '' && { cookie: this.cookie }),
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

let addresses = 0;

function nextAddress(): string {
  addresses += 1;
  return `10.${process.pid % 250}.${Math.floor(addresses / 250)}.${addresses % 250}`;
}

/** Makes a user with a session, straight in the database. */
export async function signIn(place: DashboardPlace, options: SignInOptions = {}): Promise<DashboardClient> {
  const { program, database } = place;
  const email = options.email ?? `${newIdWithPrefix('u')}@example.com`;
  const account = options.account ?? (await createAccount(database, { name: 'Test' }, createLedgers, program.clock.nowMs()));
  const role = options.role === undefined ? 'owner' : options.role;
  const nowMs = program.clock.nowMs();
  const userId = await database.write.transaction().execute(async (transaction) => {
    const user = { name: options.name ?? 'Test User', email, passwordHash: options.passwordHash ?? null, isEmailVerified: true };
    const id = await insertUser(transaction, { ...user, isOperator: options.operator }, nowMs);
    if (id === null) throw new Error(`${email} is a user already`);
    if (role !== null) await addMember(transaction, { accountId: account, userId: id, role }, nowMs);
    return id;
  });
  const cookie = await startSession(place, userId);
  return new DashboardClient(program.url, { cookie, account, userId, email });
}

/** A hash of a password that takes no time to check, as a hash says how dear it is: for users whose password is not the subject. */
export function quickHash(password: string): string {
  const nonce = randomBytes(16);
  const tag = argon2Sync('argon2id', { message: password, nonce, memory: 8, passes: 1, parallelism: 1, tagLength: 32 });
  const [salt, digest] = [nonce, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${digest}`;
}

/** Somebody who is not signed in. */
export function visitor({ program }: Pick<DashboardPlace, 'program'>): DashboardClient {
  return new DashboardClient(program.url, { cookie: '', account: '', userId: '', email: '' });
}

/** In ascending order: of several calls at once, nobody knows which is first. */
export function statusesOf(replies: readonly Reply[]): number[] {
  return replies.map(({ status }) => status).toSorted((one, other) => one - other);
}

/** Returns the cookie of a new session, as the program would have set it. */
async function startSession({ program, database }: DashboardPlace, userId: string): Promise<string> {
  const token = randomBytes(24).toString('base64url');
  const now = new Date(program.clock.nowMs());
  // The sign-in library has the machine's time, and the rest of the gateway that of its clock.
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
  const jar = new Map(cookie === '' ? [] : cookie.split('; ').map((pair) => pair.split(/=(.*)/s) as [string, string]));
  for (const line of reply.headers['set-cookie'] ?? []) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
    if (/max-age=0(?:;|$)/i.test(line)) jar.delete(name!);
    else jar.set(name!, value!);
  }
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
}
