// The headers that an account's spans are sent with. Their values are keys of the account: they are
// encrypted, and nobody is shown them again. Each start encrypts them anew under the current secret.
import { SealedRows } from '../../../db/sealed-rows.ts';
import type { Secrets } from '../../../lib/secrets.ts';

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

export const sealedHeaders = new SealedRows<{ readonly account_id: string }, 'sealed_headers'>({
  table: 'account_telemetry',
  key: 'account_id',
  column: 'sealed_headers',
  purpose: 'account telemetry',
  contextOf: ({ account_id: accountId }) => accountId,
});

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
  const text = JSON.stringify(lowerCased);
  return {
    header_names: JSON.stringify(names),
    ...(await sealedHeaders.seal(secrets, { account_id: accountId }, text)),
  };
}

/** Throws when they are under a secret that is not accepted. */
export async function openHeaders(
  secrets: Secrets,
  accountId: string,
  sealed: string | null,
): Promise<Headers> {
  if (sealed === null) return {};
  const text = await sealedHeaders.open(secrets, { account_id: accountId }, sealed);
  return JSON.parse(text) as Headers;
}
