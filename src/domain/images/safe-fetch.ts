// Fetches an image from a client's URL, only from the public internet. Every address of the host is
// checked, the connection goes to a checked address (no DNS rebinding), and each redirect is
// checked again. The answer is limited in time and size, and its bytes must be an image.
// docs/image-files.md lists what is refused and why.
import type { Dispatcher } from 'undici';
import { ApiError } from '../../canonical/errors.ts';
import { Client } from '../../lib/undici.ts';
import { checkedConnector, type OpenConnector } from '../../lib/checked-connector.ts';
import { abortAfter, type Clock } from '../../lib/clock.ts';
import {
  imageTypeOf,
  imageTypesInWords,
  readImage,
  unreadable,
  type ImageReading,
} from '../../lib/image.ts';
import { Pieces } from '../../lib/pieces.ts';
import { publicHosts, type FindAddresses } from '../../lib/public-hosts.ts';
import type { Resolve } from '../../lib/resolve-name.ts';
import type { ByteBudget } from './fetched-bytes.ts';

/** Throws ApiError `overloaded`. */
export type SafeFetch = (url: string, limits: FetchLimits) => Promise<ImageReading>;

export type FetchLimits = {
  readonly bytesMax: number;
  /** Shared by all fetches of a request. */
  readonly budget: ByteBudget;
  readonly signal: AbortSignal;
};

export type SafeFetchOptions = {
  /**
   * Exact `host` or `host:port`. These may be inside the operator's own network, and use `http` or
   * `https` as the URL says.
   */
  readonly allowedHosts?: readonly string[];
  readonly resolve?: Resolve;
  readonly openConnector?: OpenConnector;
  readonly totalMs?: number;
  readonly clock: Clock;
};

const redirectsMax = 3;
const urlCharactersMax = 8_192;
const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];
/** The bytes that reveal an image's type; other content is not read further. */
const typeBytes = 16;

/**
 * Problems that a client sees. They contain at most a status, because answers, addresses and names
 * of the operator's network must not leak.
 */
const problems = {
  malformed: 'is not a URL that begins with http:// or https://, without a user name or password',
  port: 'must use port 80 or 443',
  address: 'must lead to a public address, and its host does not resolve to one',
  unreachable: 'could not be fetched: the connection to its host failed',
  redirects: `redirects more than ${redirectsMax} times`,
  type: `is not a ${imageTypesInWords} image`,
} as const;

class Refused extends Error {}

export function createSafeFetch({
  allowedHosts = [],
  resolve,
  openConnector = checkedConnector,
  totalMs = 20_000,
  clock,
}: SafeFetchOptions): SafeFetch {
  const hosts = publicHosts({ allowedHosts, ports: ['80', '443'], ...(resolve && { resolve }) });
  return async (text, limits) => {
    const deadline = abortAfter(clock, totalMs);
    const signal = AbortSignal.any([deadline, limits.signal]);
    try {
      let url = urlOf(text);
      for (let redirects = 0; redirects <= redirectsMax; redirects++) {
        const addresses = await checkedAddresses(url, hosts.find, signal);
        const next = await fetchOnce({ url, connector: openConnector(addresses), limits, signal });
        if (!(next instanceof URL)) return next;
        url = next;
      }
      throw new Refused(problems.redirects);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      limits.signal.throwIfAborted();
      if (deadline.aborted) return unreadable(`did not arrive within ${totalMs / 1_000} seconds`);
      return unreadable(error instanceof Refused ? error.message : problems.unreachable);
    }
  };
}

/**
 * Parses a URL. The parser turns every odd spelling of an address (decimal, octal, hex, full-width)
 * into the plain one.
 */
function urlOf(text: string, base?: URL): URL {
  const url = text.length > urlCharactersMax ? null : URL.parse(text, base?.href);
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (!url || !isWeb || url.username || url.password || !url.hostname)
    throw new Refused(problems.malformed);
  return url;
}

/** Throws Refused unless all addresses of the host are public or the operator allowed the host. */
async function checkedAddresses(
  url: URL,
  find: FindAddresses,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = await find(url, signal);
  if (found.kind === 'found') return found.addresses;
  throw new Refused(found.kind === 'wrong-port' ? problems.port : problems.address);
}

type FetchCall = {
  readonly url: URL;
  readonly connector: ReturnType<OpenConnector>;
  readonly limits: FetchLimits;
  readonly signal: AbortSignal;
};

/** Sends one request on its own connection. Returns the image, or the URL that it redirects to. */
async function fetchOnce({
  url,
  connector,
  limits,
  signal,
}: FetchCall): Promise<URL | ImageReading> {
  const client = new Client(url.origin, { connect: connector, pipelining: 0 });
  try {
    const answer = await client.request({
      method: 'GET',
      path: url.pathname + url.search,
      headers: {
        accept: 'image/png, image/jpeg, image/webp, image/gif',
        'accept-encoding': 'identity',
        'user-agent': 'tollgate',
      },
      signal,
    });
    // An unread body ends with an error, which nobody handles.
    answer.body.on('error', () => {});
    if (redirectStatuses.includes(answer.statusCode)) return redirectOf(answer, url);
    if (answer.statusCode !== 200)
      throw new Refused(`could not be fetched: its host answered with status ${answer.statusCode}`);
    return await readBody(answer, limits);
  } finally {
    // The rest of the answer is not needed.
    void client.destroy().catch(() => {});
  }
}

function redirectOf({ headers, statusCode }: Dispatcher.ResponseData, from: URL): URL {
  const { location } = headers;
  if (typeof location === 'string') return urlOf(location, from);
  throw new Refused(`could not be fetched: its host answered with status ${statusCode}`);
}

async function readBody(
  { headers, body }: Dispatcher.ResponseData,
  { bytesMax, budget }: FetchLimits,
): Promise<ImageReading> {
  const tooLarge = `is larger than ${bytesMax} bytes`;
  if (Number(headers['content-length'] ?? 0) > bytesMax) throw new Refused(tooLarge);
  const pieces = new Pieces();
  let head = Buffer.alloc(0);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    pieces.add(chunk);
    if (pieces.bytes > bytesMax) throw new Refused(tooLarge);
    if (!budget.take(chunk.length)) throw new Refused(budget.problem);
    if (head.length >= typeBytes) continue;
    head = Buffer.concat([head, chunk.subarray(0, typeBytes)]);
    if (head.length >= typeBytes && imageTypeOf(head) === null) throw new Refused(problems.type);
  }
  return readImage(Buffer.concat(pieces.take()));
}
