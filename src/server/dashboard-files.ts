// Serves the built web app: `/assets/*`, whose names change with their content, and one page for
// every other address.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import type { Handler } from './context.ts';

export const assetsPath = '/assets/';

/**
 * The folder that `scripts/build.mjs` writes, beside the built server. A server that runs from its
 * sources serves the newest build.
 */
export const dashboardFolder = import.meta.url.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', 'dist', 'current', 'dashboard')
  : join(import.meta.dirname, 'dashboard');

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** In order of preference, with the ending that the build adds to the file's name. */
const encodings = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** Reads nothing before the first request, so that a start does not wait for it. */
export class DashboardFiles {
  readonly #folder: string;
  readonly #imageOrigin: string | null;
  #names: ReadonlySet<string> | null = null;
  #page: string | null = null;

  /** `publicUrl`: image links lead there, so the playground must be allowed to show them. */
  constructor(folder: string, publicUrl: string | null) {
    this.#folder = folder;
    this.#imageOrigin = publicUrl === null ? null : new URL(publicUrl).origin;
  }

  /** Opens only names that the build made. Throws ApiError 404 for others. */
  getAsset(): Handler {
    return async (request, reply) => {
      const name = (request.params as Record<'*', string>)['*'];
      this.#names ??= namesIn(join(this.#folder, 'assets'));
      const mediaType = mediaTypes[extname(name)];
      if (!mediaType || !this.#names.has(name))
        throw new ApiError('not_found', 'There is no such file of the dashboard.');
      const encoding = this.#encodingOf(name, request.headers['accept-encoding'] ?? '');
      const content = await readFile(join(this.#folder, 'assets', name + (encoding?.ending ?? '')));
      reply.headers({
        'content-type': mediaType,
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'accept-encoding',
        'cross-origin-resource-policy': 'same-origin',
        ...(encoding && { 'content-encoding': encoding.name }),
      });
      return reply.send(content);
    };
  }

  /** Sends the page with a fresh nonce. The app in it shows what belongs to the address. */
  sendPage(reply: FastifyReply): FastifyReply {
    const nonce = randomBytes(16).toString('base64');
    const page = this.#readPage();
    return reply
      .code(page === null ? 503 : 200)
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': this.#policyOf(nonce),
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'same-origin',
        'x-frame-options': 'DENY',
      })
      .send(page === null ? missingPage : page.replaceAll('{{nonce}}', nonce));
  }

  #policyOf(nonce: string): string {
    const images = [
      "'self'",
      'data:',
      'blob:',
      ...(this.#imageOrigin === null ? [] : [this.#imageOrigin]),
    ];
    return [
      "default-src 'none'",
      "script-src 'self'",
      `style-src 'self' 'nonce-${nonce}'`,
      `img-src ${images.join(' ')}`,
      "connect-src 'self'",
      "font-src 'self'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ].join('; ');
  }

  #encodingOf(name: string, accepted: string) {
    return encodings.find(
      (encoding) => this.#names?.has(name + encoding.ending) && accepts(accepted, encoding.name),
    );
  }

  /** Returns null when the dashboard is not built. The next request looks again. */
  #readPage(): string | null {
    try {
      this.#page ??= readFileSync(join(this.#folder, 'index.html'), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return this.#page;
  }
}

/**
 * Returns true when a browser navigates to this address. Programs, which accept anything or JSON,
 * get a 404 instead. Below the paths of the APIs, browsers get one too.
 */
export function wantsPage({ method, url, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return (
    isRead &&
    !/^\/(?:v1|dashboard-api|assets)(?:[/?]|$)/.test(url) &&
    (headers.accept ?? '').includes('text/html')
  );
}

/** Example: `gzip, br;q=0` refuses `br`. */
function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((word) => word.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

function namesIn(folder: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(folder));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return new Set();
  }
}

const missingPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The dashboard is not built</title>
<h1>The dashboard is not built</h1>
<p>The API works. Start the gateway with <code>npm start</code>, which builds its dashboard, and load this page again.</p>
</html>
`;
