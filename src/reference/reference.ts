// The descriptions of both APIs, as OpenAPI documents.
import packageJson from '../../package.json' with { type: 'json' };
import { headerNamesOf } from '../terms/header-names.ts';
import type { JsonObject } from '../lib/json.ts';
import { adminOperations, adminSchemas, adminTags } from './admin-operations.ts';
import { dashboardOperations, dashboardSchemas, dashboardTags } from './dashboard-operations.ts';
import { buildDocument, type Installation } from './document.ts';
import type { Operation } from './operation.ts';
import { publicOperations, publicSchemas, publicTags } from './public-operations.ts';

/** The settings of an installation that the documents show. */
export type Settings = {
  readonly service: { readonly name: string };
  readonly server: { readonly public_url: string | null; readonly body_limit_bytes: number };
};

/** Describes the public API and the admin API. `more`: operations that describe themselves. */
export function publicDocument(
  settings: Settings,
  more: Readonly<Record<string, Operation>> = {},
): JsonObject {
  return buildDocument(
    {
      title: 'Tollgate',
      description: publicDescription,
      tags: { ...publicTags, ...adminTags },
      operations: { ...publicOperations, ...more, ...adminOperations() },
      schemas: { ...publicSchemas, ...adminSchemas },
    },
    installationOf(settings),
  );
}

const publicDescription = `One API key and one prepaid balance for models of many providers.

Send the key as \`Authorization: Bearer <key>\` or \`x-api-key\`. A body is JSON of at most \`x-limits.body_bytes\` bytes. Unknown fields of a request are described in docs/formats.md.

Every error has a code, a message that says what to do, and the id of its request. An error is never charged. \`x-errors\` lists all codes. Every path can also answer 404 \`not_found\`, 405 \`method_not_allowed\` to other methods, 426 \`upgrade_required\` to a WebSocket, 408 \`request_timeout\` to a request that comes too slowly, or 431 \`headers_too_large\`.`;

/** Describes the API of the dashboard, which is for browsers. */
export function dashboardDocument(settings: Settings): JsonObject {
  return buildDocument(
    {
      title: 'Tollgate’s dashboard',
      description: dashboardDescription,
      tags: dashboardTags,
      operations: dashboardOperations(),
      schemas: dashboardSchemas,
    },
    installationOf(settings),
  );
}

const dashboardDescription = `What the dashboard's web app calls. A sign-in sets a cookie; changes must come from the gateway's own pages. It may change with every version: programs use the public API (\`/openapi.json\`).

Money is in whole millionths of a US dollar (\`_micros\`). Lists are paged: pass \`next_cursor\` as \`cursor\`.`;

function installationOf({ service, server }: Settings): Installation {
  return {
    version: packageJson.version,
    publicUrl: server.public_url,
    headers: headerNamesOf(service.name),
    bodyBytesMax: server.body_limit_bytes,
  };
}

/** Example: `GET /v1/models`. */
export type PublicOperation = keyof typeof publicOperations;
