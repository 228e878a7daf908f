// Describes the admin API from its contract, which also validates its requests and types its
// answers.
import { Type, type TSchema } from 'typebox';
import { adminScopes } from '../terms/admin-scope.ts';
import type { ErrorCode } from '../canonical/errors.ts';
import { AccountDetail, AccountRow } from '../management/contract/accounts.ts';
import { AuditEntry } from '../management/contract/audit-log.ts';
import { StatementLine } from '../management/contract/billing.ts';
import { Done } from '../management/contract/common.ts';
import { adminCalls } from '../management/contract/contract.ts';
import type { KeyEndpoint } from '../management/contract/doors.ts';
import { OperatorKey } from '../management/contract/keys.ts';
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
import type { Operation, Parameter } from './operation.ts';

const prefix = '/admin/v1';

export const adminTags = {
  Admin: `For programs of the operator, such as a shop. A request needs an admin key with the scope that the call names: ${adminScopes.map((scope) => `\`${scope}\``).join(', ')}.`,
};

/** Names of shapes. They are the names of types in generated clients. */
export const adminSchemas: Readonly<Record<string, TSchema>> = {
  AdminDone: Done,
  AdminAccountRow: AccountRow,
  AdminAccount: AccountDetail,
  AdminStatementLine: StatementLine,
  AdminApiKey: OperatorKey,
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
