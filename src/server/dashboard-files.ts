// Serves the built web app: `/assets/*`, whose names change with their content, and one page for
// every other address.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import { isGooglePath } from '../formats/registry.ts';
import { assetHeaders, BuiltFiles } from './built-files.ts';
import { adminApiPath, dashboardApiPath, type Handler, publicApiPath } from './context.ts';
import { DashboardPage, type Manifest } from './dashboard-page.ts';
import { pageHeaders } from './page-headers.ts';

export const assetsPath = '/assets/';
const pathsWithoutPages = [publicApiPath, dashboardApiPath, adminApiPath, assetsPath.slice(0, -1)];

/** Reads nothing before the first request, so that a start does not wait for it. */
export class DashboardFiles {
  readonly #folder: string;
  readonly #assets: BuiltFiles;
  readonly #imageOrigins: readonly string[];
  #page: DashboardPage | null = null;

  /** `publicUrl`: image links lead there, so the playground must be allowed to show them. */
  constructor(folder: string, publicUrl: string | null) {
    this.#folder = folder;
    this.#assets = new BuiltFiles(join(folder, 'assets'));
    this.#imageOrigins = publicUrl === null ? [] : [new URL(publicUrl).origin];
  }

  /** Throws ApiError 404 for names that the build did not make. */
  getAsset(): Handler {
    return async (request, reply) => {
      const name = (request.params as Record<'*', string>)['*'];
      if (!this.#assets.has(name))
        throw new ApiError('not_found', 'There is no such file of the dashboard.');
      return this.#assets.send(name, request, reply.headers(assetHeaders));
    };
  }

  /** Sends the page with a fresh nonce. The app in it shows what belongs to the address. */
  sendPage(reply: FastifyReply): FastifyReply {
    const nonce = randomBytes(16).toString('base64');
    const page = this.#readPage()?.withCodeOf(reply.request.url) ?? null;
    const images = ['blob:', ...this.#imageOrigins];
    const sources = { styles: [`'nonce-${nonce}'`], images, media: ['blob:'] };
    return reply
      .code(page === null ? 503 : 200)
      .headers(pageHeaders(sources))
      .send(page === null ? missingPage : page.replaceAll('{{nonce}}', nonce));
  }

  /** Returns null when the dashboard is not built. The next request looks again. */
  #readPage(): DashboardPage | null {
    try {
      this.#page ??= new DashboardPage(
        readFileSync(join(this.#folder, 'index.html'), 'utf8'),
        JSON.parse(readFileSync(join(this.#folder, 'manifest.json'), 'utf8')) as Manifest,
      );
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
    !isGooglePath(url) &&
    !pathsWithoutPages.some((path) => isAtOrBelow(path, url)) &&
    (headers.accept ?? '').includes('text/html')
  );
}

/** `/v1` covers `/v1`, `/v1?x` and `/v1/models`, but not `/v1beta`. */
export function isAtOrBelow(path: string, url: string): boolean {
  return url.startsWith(path) && ['/', '?', undefined].includes(url[path.length]);
}

const missingPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The dashboard is not built</title>
<h1>The dashboard is not built</h1>
<p>The API works. Start the gateway with <code>npm start</code>, which builds its dashboard, and load this page again.</p>
</html>
`;
