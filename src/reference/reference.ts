// The descriptions of both APIs, as OpenAPI documents.
import packageJson from '../../package.json' with { type: 'json' };
import { headerNamesOf } from '../terms/header-names.ts';
import type { JsonObject } from '../lib/json.ts';
import { dashboardOperations, dashboardSchemas, dashboardTags } from './dashboard-operations.ts';
import { buildDocument, type Installation } from './document.ts';
import type { Operation, Parameter } from './operation.ts';
import { publicOperations, publicSchemas, publicTags } from './public-operations.ts';
import { Type, type TSchema } from 'typebox';
import { adminScopes } from '../terms/admin-scope.ts';
import type { ErrorCode } from '../canonical/errors.ts';
import { AccountDetail, AccountRow } from '../management/contract/accounts.ts';
import { AuditEntry } from '../management/contract/audit-log.ts';
import { StatementLine } from '../management/contract/billing.ts';
import { Done } from '../management/contract/common.ts';
import { adminCalls } from '../management/contract/contract.ts';
import type { KeyEndpoint } from '../management/contract/doors.ts';
import { Key } from '../management/contract/keys.ts';
import { AccountMember, NewInvitation, PendingInvitation } from '../management/contract/members.ts';
import {
  ImageParameters,
  ImagePrices,
  ModelPrice,
  PricedModel,
  TokenPrices,
} from '../management/contract/models.ts';
import { UsageRecord } from '../management/contract/usage.ts';
import { OperatorUser } from '../management/contract/users.ts';
import { idOf, pathParameters, queryParameters } from './contract-parts.ts';

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

const prefix = '/admin/v1';

const adminTags = {
  Admin: `For programs of the operator, such as a shop. A request needs an admin key with the scope that the call names: ${adminScopes.map((scope) => `\`${scope}\``).join(', ')}.`,
};

/** Names of shapes. They are the names of types in generated clients. */
const adminSchemas: Readonly<Record<string, TSchema>> = {
  AdminDone: Done,
  AdminAccountRow: AccountRow,
  AdminAccount: AccountDetail,
  AdminStatementLine: StatementLine,
  AdminApiKey: Key,
  AdminUser: OperatorUser,
  AdminMember: AccountMember,
  AdminInvitation: PendingInvitation,
  AdminNewInvitation: NewInvitation,
  AdminCharge: UsageRecord,
  AdminAuditEntry: AuditEntry,
  AdminModel: PricedModel,
  AdminTokenPrices: TokenPrices,
  AdminModelPrice: ModelPrice,
  AdminImagePrices: ImagePrices,
  AdminImageParameters: ImageParameters,
};

export function adminOperations(): Readonly<Record<string, Operation>> {
  return Object.fromEntries(
    Object.entries(adminCalls).map(([name, endpoint]) => [
      name.replace(' ', ` ${prefix}`),
      describe(name, endpoint),
    ]),
  );
}

function describe(name: string, endpoint: KeyEndpoint): Operation {
  const { scope, summary, note, query, body, output, idempotency } = endpoint;
  const needs = `Needs the scope \`${scope}\`.`;
  return {
    id: idOf(name.replace(' ', ' /admin')),
    tag: 'Admin',
    summary,
    description: note === undefined ? needs : `${note} ${needs}`,
    access: 'admin-key',
    parameters: [
      ...pathParameters(name),
      ...queryParameters(query),
      ...(idempotency === undefined ? [] : [idempotencyKey(idempotency === 'required')]),
    ],
    ...(body && { body: { content: { 'application/json': body } } }),
    answers: {
      200: {
        description: 'Done.',
        ...(idempotency !== undefined && { headers: ['cache'] }),
        content: { 'application/json': output },
      },
    },
    errors: errorsOf(name, endpoint),
    errorShape: 'problem',
  };
}

function idempotencyKey(isRequired: boolean): Parameter {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'One for each action. A repeated request has one effect and gets the same answer, for 24 hours.',
    isRequired,
    schema: Type.String({ minLength: 1, maxLength: 1024 }),
  };
}

function errorsOf(name: string, { idempotency }: KeyEndpoint): readonly ErrorCode[] {
  return [
    'invalid_request',
    'invalid_api_key',
    'address_not_allowed',
    'not_permitted',
    'not_found',
    'rate_limit_exceeded',
    'internal_error',
    'upstream_unavailable',
    ...(name.startsWith('GET')
      ? []
      : (['conflict', 'request_too_large', 'unsupported_media_type', 'overloaded'] as const)),
    ...(idempotency === undefined
      ? []
      : (['idempotency_conflict', 'idempotency_body_not_retained'] as const)),
  ];
}
