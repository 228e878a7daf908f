// Describes the dashboard's API from its contract, which also validates its requests and types its
// answers. What is no JSON of the contract stands at the end.
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../canonical/errors.ts';
import * as accounts from '../management/contract/accounts.ts';
import * as analytics from '../management/contract/analytics.ts';
import * as billing from '../management/contract/billing.ts';
import { bodySchemaOf, Done } from '../management/contract/common.ts';
import { dashboardCalls } from '../management/contract/contract.ts';
import type { SessionEndpoint } from '../management/contract/doors.ts';
import type { Access } from '../management/contract/endpoint.ts';
import * as keys from '../management/contract/keys.ts';
import * as models from '../management/contract/models.ts';
import * as overview from '../management/contract/overview.ts';
import * as requests from '../management/contract/requests.ts';
import * as service from '../management/contract/service.ts';
import * as session from '../management/contract/session.ts';
import * as usage from '../management/contract/usage.ts';
import { capitalize, idOf, pathParameters, queryParameters } from './contract-parts.ts';
import type { Operation } from './operation.ts';
import { publicOperations, publicSchemas } from './public-operations.ts';

const prefix = '/dashboard-api';

export const dashboardTags = {
  public: 'Before a sign-in.',
  user: 'For every user.',
  account: 'For the members of an account. Some calls need the role of an admin or owner.',
  operator: 'For operators. Others get a 404.',
};

/** Names of shapes. They are the names of types in generated clients. */
export const dashboardSchemas: Readonly<Record<string, TSchema>> = {
  ...publicSchemas,
  Done,
  StatementLine: billing.StatementLine,
  Key: keys.Key,
  NewKey: keys.NewKey,
  TokenPrices: models.TokenPrices,
  ModelPrice: models.ModelPrice,
  ChatModel: models.ChatModel,
  ImagePrices: models.ImagePrices,
  ImageParameters: models.ImageParameters,
  ImageModelEntry: models.ImageModelEntry,
  ModelCatalogue: models.ModelCatalogue,
  AccountRow: accounts.AccountRow,
  AccountDetail: accounts.AccountDetail,
  ProviderRoute: service.ProviderRoute,
  ProviderDay: service.ProviderDay,
  Catalogue: service.Catalogue,
  CatalogueModel: service.CatalogueModel,
  ServiceSettings: service.ServiceSettings,
  Overview: overview.Overview,
  AnalyticsFigures: analytics.AnalyticsFigures,
  Analytics: analytics.Analytics,
  SessionInfo: session.SessionInfo,
  UsageRecord: usage.UsageRecord,
  UsageDetail: usage.UsageDetail,
  RequestRecord: requests.RequestRecord,
  RequestDetail: requests.RequestDetail,
};

export function dashboardOperations(): Readonly<Record<string, Operation>> {
  const described = Object.entries(dashboardCalls).map(([name, endpoint]) =>
    withPrefix(name, describe(name, endpoint)),
  );
  return Object.fromEntries([...described, ...others()]);
}

function withPrefix(name: string, operation: Operation): [string, Operation] {
  return [name.replace(' ', ` ${prefix}`), operation];
}

/** The names of files in generated clients. */
const fileIds: Readonly<Record<string, string>> = {
  'GET /accounts/:account/usage.csv': 'exportUsage',
  'GET /accounts/:account/statement.csv': 'exportStatement',
  'GET /operator/accounts/:account/statement.csv': 'exportStatementOfAccount',
  'GET /accounts/:account/receipt.pdf': 'getReceipt',
};

function describe(name: string, endpoint: SessionEndpoint): Operation {
  const { access, confirmed, summary, query, output, file } = endpoint;
  const body = bodySchemaOf(endpoint);
  const answer = {
    description: file === undefined ? 'Done.' : 'A file.',
    content: { [file ?? 'application/json']: output },
  };
  return {
    id: fileIds[name] ?? idOf(name),
    tag: tagOf(access),
    summary,
    description: descriptionOf(endpoint),
    access: access === 'public' ? 'open' : 'session',
    parameters: [...pathParameters(name), ...queryParameters(query)],
    ...(body && { body: { content: { 'application/json': body } } }),
    answers: { 200: answer },
    errors: [...errorsOf(name), ...(confirmed ? (['confirmation_required'] as const) : [])],
    errorShape: 'problem',
  };
}

const rights: Readonly<Record<Access, string>> = {
  public: 'Anybody may call it.',
  user: 'Every user who is signed in may call it.',
  viewer: 'Every user of the account may call it.',
  member: 'A member, admin or owner of the account may call it.',
  admin: 'An admin or owner of the account may call it.',
  owner: 'An owner of the account may call it.',
  operator: 'An operator may call it.',
};

function descriptionOf({ access, note, confirmed }: SessionEndpoint): string {
  const confirmation = confirmed ? 'It asks the user to confirm it.' : '';
  return [note ?? '', rights[access], confirmation].filter((text) => text !== '').join(' ');
}

function tagOf(access: Access): keyof typeof dashboardTags {
  return access === 'viewer' || access === 'member' || access === 'admin' || access === 'owner'
    ? 'account'
    : access;
}

const always: readonly ErrorCode[] = [
  'invalid_request',
  'conflict',
  'rate_limit_exceeded',
  'internal_error',
  'upstream_unavailable',
];

/** Some changes need the payment provider or the mail server. */
const changing: readonly ErrorCode[] = [
  'request_too_large',
  'unsupported_media_type',
  'overloaded',
  'upstream_error',
];

function errorsOf(name: string): readonly ErrorCode[] {
  return [
    ...always,
    'not_signed_in',
    'sign_in_failed',
    'not_permitted',
    'not_found',
    ...(name.startsWith('GET') ? [] : changing),
  ];
}

/** The playground's requests are the public ones, with a key of the account. */
const played = [
  'POST /v1/responses',
  'POST /v1/chat/completions',
  'POST /v1/messages',
  'POST /v1beta/generateContent/*',
  'POST /v1/embeddings',
  'POST /v1/rerank',
  'POST /v1/moderations',
  'POST /v1/audio/speech',
  'POST /v1/audio/transcriptions',
  'POST /v1/images/generations',
] as const;

/** The playground has one path for whole and streamed answers of Gemini's format. */
function playedOperation(name: (typeof played)[number]): Operation {
  const operation: Operation = publicOperations[name];
  if (name !== 'POST /v1beta/generateContent/*') return operation;
  const streamed = publicOperations['POST /v1beta/streamGenerateContent/*'].answers[200]!;
  const answer = operation.answers[200]!;
  const content = { ...streamed.content, ...answer.content };
  return { ...operation, answers: { 200: { ...answer, content } } };
}

function others(): [string, Operation][] {
  return [
    ...played.map((name) => {
      // The body names the model there.
      const path = `/accounts/:account/keys/:key${name.slice('POST '.length).replace('/*', '')}`;
      const { path: _, ...operation } = playedOperation(name);
      return withPrefix(`POST ${path}`, {
        ...operation,
        id: `play${capitalize(operation.id)}`,
        tag: 'account',
        description: 'Like the public endpoint, with the key that the path names.',
        access: 'session',
        parameters: [
          ...pathParameters(path),
          ...(operation.parameters ?? []).filter((one) => one.in !== 'path'),
        ],
        errors: [...operation.errors, 'not_signed_in', 'not_permitted', 'not_found'],
      });
    }),
    withPrefix('GET /auth/callback/oidc', {
      id: 'finishSingleSignOn',
      tag: 'public',
      summary: 'Come back from the single sign-on provider',
      access: 'open',
      answers: { 303: { description: 'Leads to a page of the dashboard.', headers: ['location'] } },
      errors: ['invalid_request', 'not_found', 'internal_error', 'upstream_unavailable'],
      errorShape: 'problem',
    }),
  ];
}
