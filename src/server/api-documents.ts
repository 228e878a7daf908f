// Serves the descriptions of both APIs. Anybody may read them: they hold no secret, and the program
// is public.
import { createHash } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Handler } from './context.ts';
import { isKnown } from './etag.ts';
import { ownDescriptions } from './sales.ts';

// The schemas are loaded at the first request, so that a start does not wait for them.
const loadReference = () => import('../reference/reference.ts');

export function getPublicDocument(config: Config): Handler {
  return serve(async () => (await loadReference()).publicDocument(config, ownDescriptions()));
}

export function getDashboardDocument(config: Config): Handler {
  return serve(async () => (await loadReference()).dashboardDocument(config));
}

function serve(build: () => Promise<JsonObject>): Handler {
  let document: Promise<Tagged> | null = null;
  return async (request, reply) => {
    document ??= build().then(withTag);
    const { body, etag } = await document.catch((error: unknown) => {
      // Its module could not be read, for lack of a file descriptor for example: try again later.
      document = null;
      throw error;
    });
    // Another version of the program has another document, so clients ask each time.
    reply.headers({ etag, 'cache-control': 'public, no-cache' });
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  };
}

type Tagged = { readonly body: Buffer; readonly etag: string };

function withTag(document: JsonObject): Tagged {
  const body = Buffer.from(JSON.stringify(document));
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}
