// Decides which web pages' scripts may read the API's answers (`server.cors_origins`;
// https://fetch.spec.whatwg.org/#http-cors-protocol). Scripts send keys themselves, so no answer
// ever allows credentials. The dashboard's API works with cookies and never gets these headers.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HeaderNames } from '../terms/header-names.ts';
import { isPublicApi } from './context.ts';

type Headers = Readonly<Record<string, string>>;

const methods = 'GET, POST, PUT, PATCH, DELETE';
/** The longest time that browsers cache a preflight. */
const preflightSeconds = 7_200;
const none: Headers = {};

export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #exposed: string;

  constructor(origins: readonly string[], names: HeaderNames) {
    this.#origins = new Set(origins.map((origin) => origin.toLowerCase()));
    const limits = ['requests', 'tokens'].flatMap((unit) =>
      ['limit', 'remaining', 'reset'].map((what) => `x-ratelimit-${what}-${unit}`),
    );
    this.#exposed = [
      ...Object.values(names),
      'x-request-id',
      'request-id',
      'retry-after',
      'x-should-retry',
      ...limits,
      'ratelimit',
      'ratelimit-policy',
      'deprecation',
      'sunset',
      'link',
    ].join(', ');
  }

  /**
   * Returns the CORS headers of an answer for this origin; undefined when the request has no
   * origin.
   */
  headersFor(origin: string | undefined): Headers {
    if (this.#origins.size === 0) return none;
    const isAnybodys = this.#origins.has('*');
    const vary: Headers = isAnybodys ? none : { vary: 'Origin' };
    if (origin === undefined || !(isAnybodys || this.#origins.has(origin.toLowerCase())))
      return vary;
    return {
      ...vary,
      'access-control-allow-origin': isAnybodys ? '*' : origin,
      'access-control-expose-headers': this.#exposed,
    };
  }

  /** Adds the headers to an answer of the API. Returns true when the calling script may read it. */
  mark({ url, headers: { origin } }: FastifyRequest, reply: FastifyReply): boolean {
    if (!isPublicApi(url)) return false;
    const headers = this.headersFor(origin);
    reply.headers(headers);
    return 'access-control-allow-origin' in headers;
  }

  /**
   * A Fastify onRequest hook that also answers preflights. A preflight carries no key. Every path
   * of the API gets one, so that a script can read the 404 that follows.
   */
  get hook() {
    return (request: FastifyRequest, reply: FastifyReply, next: () => void): void => {
      if (this.mark(request, reply) && isPreflight(request))
        reply.code(204).headers(allowanceFor(request)).send();
      else next();
    };
  }
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/**
 * Echoes the requested headers: SDKs send their own (`x-stainless-…`), and `*` would leave out
 * `Authorization`.
 */
function allowanceFor({ headers }: FastifyRequest): Headers {
  const asked = headers['access-control-request-headers'];
  return {
    'access-control-allow-methods': methods,
    'access-control-max-age': String(preflightSeconds),
    ...(asked !== undefined && asked.length <= 4_096 && { 'access-control-allow-headers': asked }),
  };
}
