// Serves the documentation under `/docs`, made by `docs-site/build.ts`: pages, their text as
// Markdown, their files, and files of the root such as `/robots.txt`.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import { assetHeaders, BuiltFiles, mediaTypeOf } from './built-files.ts';
import { escapeHtml } from '../lib/escape-html.ts';
import type { Handler, ServerContext } from './context.ts';
import { publicPrices } from './models.ts';
import { pageHeaders } from './page-headers.ts';
import { baseUrlOf } from './server-url.ts';

export const docsPath = '/docs';

/** Files of the root that the documentation brings. */
export const rootFiles = ['robots.txt', 'favicon.ico', 'llms.txt', 'sitemap.xml'] as const;

export class DocsFiles {
  readonly #files: BuiltFiles;
  readonly #context: ServerContext;

  constructor(folder: string, context: ServerContext) {
    this.#files = new BuiltFiles(folder);
    this.#context = context;
  }

  /**
   * Returns the handler of `/docs` and below. The page `/docs/guides/costs` is the file
   * `guides/costs.html`, its text `guides/costs.md`. An unknown address gets a page if a browser
   * asks, else an ApiError 404.
   */
  getPage(): Handler {
    return async (request, reply) => {
      const path = (request.params as { readonly '*'?: string })['*'] ?? '';
      if (path.startsWith('assets/') && this.#files.has(path))
        return this.#files.send(path, request, reply.headers(assetHeaders));
      const page = path === '' ? 'index.html' : `${path.replace(/\/$/, '')}.html`;
      const name = path.endsWith('.md') ? path : page;
      const isFound = this.#files.has(name);
      if (!isFound && !(this.#files.has(missing) && request.headers.accept?.includes('text/html')))
        throw new ApiError('not_found', `There is no such page. ${docsPath} lists all of them.`);
      reply.code(isFound ? 200 : 404).headers(pageHeaders({}));
      return this.#send(isFound ? name : missing, request, reply);
    };
  }

  /** Throws ApiError 404 if the documentation is not built. */
  getRootFile(name: (typeof rootFiles)[number]): Handler {
    return async (request, reply) => {
      if (this.#files.has(name)) return this.#send(name, request, reply);
      throw new ApiError('not_found', 'The documentation is not built.');
    };
  }

  /** Writes the prices in force and this gateway's address into the files that name them. */
  async #send(name: string, request: FastifyRequest, reply: FastifyReply) {
    const tables = await this.#tablesIn(name);
    if (tables === null && !/\.(?:md|txt|xml)$/.test(name))
      return this.#files.send(name, request, reply);
    const address = baseUrlOf(request.server.publicUrl, request);
    const text = (await this.#files.text(name))
      .replace('{{models}}', () => tables ?? '')
      .replaceAll('{{gateway}}', () => (name.endsWith('.xml') ? escapeHtml(address) : address));
    return reply.type(mediaTypeOf(name)).send(text);
  }

  /** Returns the tables of models for a page that has them. */
  async #tablesIn(name: string): Promise<string | null> {
    if (name !== 'models.html' && name !== 'models.md') return null;
    // Loaded with the first such page: to format numbers, Node reads 7 MB of data.
    const { htmlTables, markdownTables } = await import('./docs-models.ts');
    const tables = name === 'models.html' ? htmlTables : markdownTables;
    return tables(publicPrices(this.#context));
  }
}

const missing = '404.html';
