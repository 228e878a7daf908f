// Serves the documentation under `/docs`: pages made by `scripts/build-docs.mjs`, and their files.
import { ApiError } from '../canonical/errors.ts';
import { assetHeaders, BuiltFiles } from './built-files.ts';
import type { Handler } from './context.ts';
import { pageHeaders } from './page-headers.ts';

export const docsPath = '/docs';

/**
 * Returns the handler of `/docs` and below. The page `/docs/guides/costs` is the file
 * `guides/costs.html`. An unknown address gets a page if a browser asks, else an ApiError 404.
 */
export function getDocs(folder: string): Handler {
  const files = new BuiltFiles(folder);
  return async (request, reply) => {
    const path = (request.params as { readonly '*'?: string })['*'] ?? '';
    if (path.startsWith('assets/') && files.has(path))
      return files.send(path, request, reply.headers(assetHeaders));
    const page = path === '' ? 'index.html' : `${path.replace(/\/$/, '')}.html`;
    const isFound = files.has(page);
    if (!isFound && !(files.has(missing) && request.headers.accept?.includes('text/html')))
      throw new ApiError('not_found', `There is no such page. ${docsPath} lists all of them.`);
    reply.code(isFound ? 200 : 404).headers(pageHeaders({}));
    return files.send(isFound ? page : missing, request, reply);
  };
}

const missing = '404.html';
