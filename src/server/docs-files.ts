// Serves the documentation under `/docs`, made by `docs-site/build.ts`: pages, their text as
// Markdown, their files, and files of the root such as `/robots.txt`.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import { assetHeaders, BuiltFiles } from './built-files.ts';
import type { Handler, ServerContext } from './context.ts';
import { htmlTables, markdownTables } from './docs-models.ts';
import { publicPrices } from './models.ts';
import { pageHeaders } from './page-headers.ts';
import { baseUrlOf } from './server-url.ts';

export const docsPath = '/docs';

/** Files of the root that the documentation brings. */
export const rootFiles = ['robots.txt', 'favicon.ico', 'llms.txt'] as const;

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
      if (path.endsWith('.md') && this.#files.has(path))
        return this.#sendText(path, request, reply);
      const page = path === '' ? 'index.html' : `${path.replace(/\/$/, '')}.html`;
      const isFound = this.#files.has(page);
      if (!isFound && !(this.#files.has(missing) && request.headers.accept?.includes('text/html')))
        throw new ApiError('not_found', `There is no such page. ${docsPath} lists all of them.`);
      reply.code(isFound ? 200 : 404).headers(pageHeaders({}));
      if (page === modelsPage)
        return reply.send(await this.#fill(page, htmlTables(publicPrices(this.#context))));
      return this.#files.send(isFound ? page : missing, request, reply);
    };
  }

  /** Throws ApiError 404 if the documentation is not built. */
  getRootFile(name: (typeof rootFiles)[number]): Handler {
    return async (request, reply) => {
      if (!this.#files.has(name))
        throw new ApiError('not_found', 'The documentation is not built.');
      if (name.endsWith('.txt')) return this.#sendText(name, request, reply);
      return this.#files.send(name, request, reply);
    };
  }

  /** Sends a text in which this gateway's address stands. */
  async #sendText(name: string, request: FastifyRequest, reply: FastifyReply) {
    const { publicUrl } = request.server;
    const tables = name === modelsText ? markdownTables(publicPrices(this.#context)) : '';
    const text = await this.#fill(name, tables);
    const type = name.endsWith('.md') ? 'text/markdown' : 'text/plain';
    return reply
      .type(`${type}; charset=utf-8`)
      .send(text.replaceAll('{{gateway}}', () => baseUrlOf(publicUrl, request)));
  }

  async #fill(name: string, tables: string): Promise<string> {
    return (await this.#files.text(name)).replace('{{models}}', () => tables);
  }
}

const missing = '404.html';
const modelsPage = 'models.html';
const modelsText = 'models.md';
