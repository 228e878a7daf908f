// The headers that an account's spans are sent with. Their values are keys of the account: they are
// encrypted, and nobody is shown them again. Each start encrypts them anew under the current secret.
import type { Database } from '../../../db/database.ts';
import { createSealer, type Sealer } from '../../../lib/sealed-bytes.ts';
import type { Secret, Secrets } from '../../../lib/secrets.ts';

export type Headers = Readonly<Record<string, string>>;

/** At most this many, with names of at most 100 and values of at most 4,096 characters. */
const headersMax = 10;
const namePattern = /^[A-Za-z0-9_-]{1,100}$/;
const valuePattern = /^[\x20-\x7e]{0,4096}$/;
/** The gateway's own. A receiver behind a proxy would be reached under another name, or cut short. */
const ownNames: readonly string[] = [
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Returns null, or a sentence that says what is wrong with the headers. Never quotes a value. */
export function headersProblem(headers: Headers): string | null {
  const names = Object.keys(headers);
  if (names.length > headersMax) return `must be at most ${headersMax} headers.`;
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length)
    return 'must not name a header twice.';
  for (const [name, value] of Object.entries(headers)) {
    if (!namePattern.test(name)) return 'must have names of 1 to 100 letters, digits, `-` and `_`.';
    if (ownNames.includes(name.toLowerCase())) return `must not set \`${name}\`: remove it.`;
    if (!valuePattern.test(value))
      return `must have a value of at most 4096 printable ASCII characters for \`${name}\`.`;
  }
  return null;
}

export type SealedHeaders = {
  readonly header_names: string;
  readonly sealed_headers: string | null;
  readonly secret_id: string | null;
};

export async function sealHeaders(
  secrets: Secrets,
  { accountId, headers }: { readonly accountId: string; readonly headers: Headers },
): Promise<SealedHeaders> {
  const lowerCased = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const names = Object.keys(lowerCased);
  if (names.length === 0) return { header_names: '[]', sealed_headers: null, secret_id: null };
  const sealed = await sealerOf(secrets).seal(Buffer.from(JSON.stringify(lowerCased)), accountId);
  return {
    header_names: JSON.stringify(names),
    sealed_headers: sealed.toString('base64'),
    secret_id: secrets[0].id,
  };
}

/** Throws when they are under a secret that is not accepted. */
export async function openHeaders(
  secrets: Secrets,
  accountId: string,
  sealed: string | null,
): Promise<Headers> {
  if (sealed === null) return {};
  const bytes = await sealerOf(secrets).open(Buffer.from(sealed, 'base64'), accountId);
  return JSON.parse(bytes.toString()) as Headers;
}

function sealerOf(secrets: Secrets): Sealer {
  return createSealer(secrets, 'account telemetry');
}

/** Encrypts headers anew that are under an earlier accepted secret. Others stay as they are. */
export async function renewHeaders(database: Database, secrets: Secrets): Promise<void> {
  for (const { account_id: accountId, sealed_headers: sealed } of await underOthers(
    database,
    secrets[0],
  )) {
    const headers = await openHeaders(secrets, accountId, sealed).catch(() => null);
    if (!headers) continue;
    await database.write
      .updateTable('account_telemetry')
      .set(await sealHeaders(secrets, { accountId, headers }))
      .where('account_id', '=', accountId)
      .where('sealed_headers', '=', sealed)
      .execute();
  }
}

/** Returns the ids of accounts whose headers are encrypted under another secret. */
export async function accountsUnderOthers(
  database: Database,
  current: Secret,
): Promise<readonly string[]> {
  return (await underOthers(database, current)).map((row) => row.account_id);
}

function underOthers({ read }: Database, { id }: Secret) {
  return read
    .selectFrom('account_telemetry')
    .select(['account_id', 'sealed_headers'])
    .where('sealed_headers', 'is not', null)
    .where('secret_id', '!=', id)
    .$narrowType<{ sealed_headers: string }>()
    .execute();
}
