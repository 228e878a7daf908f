// Credentials that sign each request, or are exchanged for tokens that end. The clouds use them.
import type { Clock } from '../lib/clock.ts';
import { isObject, objectOf } from '../lib/json.ts';

export type Credential = {
  /**
   * Returns the headers that prove who sends a request: a signature, or a token that is kept while it
   * holds. Throws CredentialError.
   */
  readonly headersFor: (request: ToAuthorize) => Promise<Readonly<Record<string, string>>>;
};

type ToAuthorize = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: URL;
  /** Left out: that of the cloud's models. */
  readonly service?: 's3';
  readonly headers: Readonly<Record<string, string>>;
  /** null: it has none, or is sent in pieces. */
  readonly body: Buffer | string | null;
};

/** Why there is no token or signature, in the vendor's terms, without the secret. */
export class CredentialError extends Error {
  /** The vendor refuses the credential itself; otherwise the fault may pass. */
  readonly isRefused: boolean;

  constructor(message: string, { isRefused }: { readonly isRefused: boolean }) {
    super(message);
    this.isRefused = isRefused;
  }
}

/** What credentials need of the program and the machine. */
export type CredentialTools = {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Throws when the file cannot be read. */
  readonly readFile: (path: string) => Promise<string>;
  /**
   * Bounded in time and size; follows no redirect. Throws CredentialError when no answer comes.
   */
  readonly send: (request: TokenRequest) => Promise<TokenReply>;
};

type TokenRequest = {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** `body`: parsed JSON, or text. */
export type TokenReply = { readonly status: number; readonly body: unknown };

export type Lasting<Token> = { readonly token: Token; readonly endsAtMs: number };

export function getFrom(
  { send }: CredentialTools,
  url: string,
  headers: TokenRequest['headers'],
): Promise<TokenReply> {
  return send({ method: 'GET', url, headers, body: null });
}

/** `headers`: others than the type of the form. */
export function postForm(
  { send }: CredentialTools,
  url: string,
  fields: Readonly<Record<string, string>>,
  headers: TokenRequest['headers'] = {},
): Promise<TokenReply> {
  const type = 'application/x-www-form-urlencoded';
  const body = new URLSearchParams(fields).toString();
  return send({ method: 'POST', url, headers: { 'content-type': type, ...headers }, body });
}

/** A token is replaced this long before its end, while calls still use it. */
const refreshAheadMs = 5 * 60_000;
/** It is not sent any more in its last moments: it could end on the way. */
const marginMs = 30_000;

/**
 * Keeps a token while it holds. Calls at the same time fetch it once. A failure is not kept: the next
 * call fetches again.
 */
export function keptToken<Token>(
  fetchToken: () => Promise<Lasting<Token>>,
  clock: CredentialTools['clock'],
): () => Promise<Token> {
  let kept: Lasting<Token> | null = null;
  let fetching: Promise<Token> | null = null;
  const refresh = () =>
    (fetching ??= fetchToken()
      .then((fetched) => (kept = fetched).token)
      .finally(() => (fetching = null)));
  return () => {
    const leftMs = (kept?.endsAtMs ?? 0) - clock.nowMs();
    if (!kept || leftMs <= marginMs) return refresh();
    // The kept one holds; if this fails, a later call tries again.
    if (leftMs <= refreshAheadMs) refresh().catch(() => {});
    return Promise.resolve(kept.token);
  };
}

/**
 * Reads the answer of an OAuth token endpoint. Some say seconds from now, some the Unix second of the
 * end, as numbers or texts. `whose`: for the error. Throws CredentialError.
 */
export function readToken(
  reply: TokenReply,
  whose: string,
  { clock }: Pick<CredentialTools, 'clock'>,
): Lasting<string> {
  const answer = objectOf(reply.body);
  const { access_token: token, expires_in: seconds, expires_on: endsAt } = answer;
  // What no header can hold must not be kept.
  const isToken = typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
  if (reply.status !== 200 || !isToken) throw noToken(reply, whose);
  const endsAtMs = clock.nowMs() + Number(seconds) * 1_000;
  return { token, endsAtMs: Number.isFinite(endsAtMs) ? endsAtMs : Number(endsAt) * 1_000 || 0 };
}

/** The service's own words, in OAuth's form or Google's. */
export function noToken({ status, body }: TokenReply, whose: string): CredentialError {
  const { error, error_description: description } = objectOf(body);
  const words = [description, isObject(error) ? error['message'] : error].find(
    (text) => typeof text === 'string',
  );
  const [firstLine] = (words ?? `HTTP ${status}`).split(/[\r\n]/);
  return new CredentialError(`${whose} gives no token: ${firstLine!.slice(0, 300)}`, {
    isRefused: status >= 400 && status < 500 && status !== 429,
  });
}

/** Reads a file that the machine's settings name. `whose`: for the error. Throws CredentialError. */
export async function readSecret(
  { readFile }: CredentialTools,
  path: string,
  whose = 'the file of the credential',
): Promise<string> {
  try {
    return await readFile(path);
  } catch {
    throw new CredentialError(`${whose} cannot be read: ${path}`, { isRefused: true });
  }
}

/** A credential whose requests carry a token that is kept while it holds. */
export function bearing(
  fetchToken: () => Promise<Lasting<string>>,
  { clock }: CredentialTools,
): Credential {
  const token = keptToken(fetchToken, clock);
  return { headersFor: async () => ({ authorization: `Bearer ${await token()}` }) };
}
