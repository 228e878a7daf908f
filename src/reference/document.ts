// Builds an OpenAPI 3.1 document from described operations.
// https://spec.openapis.org/oas/v3.1.1
import type { TSchema } from 'typebox';
import { errorKinds, type ErrorCode } from '../canonical/errors.ts';
import type { HeaderNames } from '../terms/header-names.ts';
import {
  errorWith,
  geminiErrorWith,
  messagesErrorWith,
  problemWith,
} from '../formats/error-schema.ts';
import type { JsonObject } from '../lib/json.ts';
import { describeField } from './describe-field.ts';
import { headerOf, type HeaderName, rateHeaders, wireNameOf } from './headers.ts';
import type { Access, Answer, Content, ErrorShape, Operation, Parameter } from './operation.ts';
import { collectSchemas, type Schemas } from './schemas.ts';

/** The names and limits of one installation. */
export type Installation = {
  readonly version: string;
  readonly publicUrl: string | null;
  readonly headers: HeaderNames;
  readonly bodyBytesMax: number;
};

export type Contents = {
  readonly title: string;
  readonly description: string;
  readonly tags: Readonly<Record<string, string>>;
  /** By `POST /v1/responses`. `*` at the end, or `:name`, is a parameter. */
  readonly operations: Readonly<Record<string, Operation>>;
  /** Schemas that get a name. */
  readonly schemas: Readonly<Record<string, TSchema>>;
};

export function buildDocument(contents: Contents, installation: Installation): JsonObject {
  const writer = new DocumentWriter(contents, installation);
  const paths: Record<string, JsonObject> = {};
  for (const [name, operation] of Object.entries(contents.operations)) {
    const [method, url] = name.split(' ') as [string, string];
    const path = pathOf(url, operation);
    paths[path] = { ...paths[path], [method.toLowerCase()]: writer.operation(operation) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: contents.title,
      version: installation.version,
      description: contents.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: installation.publicUrl ?? '/' }],
    tags: Object.entries(contents.tags).map(([tag, description]) => ({ name: tag, description })),
    paths,
    components: writer.components(),
    'x-errors': Object.entries(errorKinds).map(([code, kind]) => ({ code, ...kind })),
    'x-limits': { body_bytes: installation.bodyBytesMax },
  };
}

/** `/v1/models/*` with the path parameter `model` is `/v1/models/{model}`. */
function pathOf(url: string, { parameters = [], path }: Operation): string {
  if (path !== undefined) return path;
  const wild = parameters.find((parameter) => parameter.in === 'path')?.name;
  return url.replace(/\*$/, `{${wild}}`).replaceAll(/:(\w+)/g, '{$1}');
}

const schemes: Readonly<Record<string, JsonObject>> = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `tg_live_…`, `tg_test_…`.' },
  header: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'An API key.' },
  query: { type: 'apiKey', in: 'query', name: 'api_key', description: 'An API key.' },
  google: { type: 'apiKey', in: 'header', name: 'x-goog-api-key', description: 'An API key.' },
  googleQuery: { type: 'apiKey', in: 'query', name: 'key', description: 'An API key.' },
  metrics: { type: 'http', scheme: 'bearer', description: '`metrics.token`.' },
  admin: { type: 'http', scheme: 'bearer', description: 'An admin key: `tg_admin_…`.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'tollgate.session_token',
    description:
      'The cookie that a sign-in sets. With an `https:` address, its name is `__Host-tollgate.session_token`.',
  },
};

const keys = [{ bearer: [] }, { header: [] }];
const googleKeys = [{ google: [] }, { googleQuery: [] }, { bearer: [] }];

const securityOf: Readonly<Record<Access, readonly JsonObject[]>> = {
  key: keys,
  'optional-key': [...keys, {}],
  'key-or-query': [...keys, { query: [] }],
  'google-key': googleKeys,
  'optional-google-key': [...googleKeys, {}],
  'metrics-token': [{ metrics: [] }],
  session: [{ session: [] }],
  'admin-key': [{ admin: [] }],
  open: [],
};

class DocumentWriter {
  readonly #schemas: Schemas;
  readonly #names: HeaderNames;
  readonly #responses = new Map<string, JsonObject>();
  readonly #headers = new Map<string, JsonObject>();
  readonly #schemes = new Set<string>();

  constructor(contents: Contents, installation: Installation) {
    this.#schemas = collectSchemas(contents.schemas);
    this.#names = installation.headers;
  }

  operation(operation: Operation): JsonObject {
    const { id, tag, summary, description, parameters, body } = operation;
    const security = securityOf[operation.access];
    for (const scheme of security.flatMap(Object.keys)) this.#schemes.add(scheme);
    return {
      operationId: id,
      tags: [tag],
      summary,
      ...(description !== undefined && { description }),
      security,
      ...(parameters && { parameters: parameters.map((parameter) => this.#parameter(parameter)) }),
      ...(body && { requestBody: this.#body(body) }),
      responses: { ...this.#answers(operation), ...this.#errors(operation) },
    };
  }

  #body({ content, example }: NonNullable<Operation['body']>): JsonObject {
    const written = this.#content(content, 'body');
    if (example) Object.assign(written['application/json'] as JsonObject, { example });
    return { required: true, content: written };
  }

  components(): JsonObject {
    return {
      schemas: this.#schemas.used(),
      responses: inOrder(this.#responses),
      headers: inOrder(this.#headers),
      securitySchemes: Object.fromEntries(
        [...this.#schemes].toSorted().map((name) => [name, schemes[name]]),
      ),
    };
  }

  #parameter({ name, in: place, description, isRequired = false, schema }: Parameter): JsonObject {
    const own = (this.#names as Readonly<Record<string, string>>)[name];
    const written = this.#schemas.use(schema, name);
    return {
      name: place === 'header' ? (own ?? name) : name,
      in: place,
      description: description ?? written.description ?? describeField('parameter', name),
      required: isRequired || place === 'path',
      schema: written,
    };
  }

  #answers({ answers, errorShape }: Operation): JsonObject {
    const write = ({ description, headers = [], content }: Answer) => ({
      description,
      headers: this.#headersOf(errorShape, headers),
      ...(content && { content: this.#content(content, 'answer') }),
    });
    return Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, write(answer)]),
    );
  }

  /** Errors of one status are one response. Operations with the same codes share it. */
  #errors({ errors, errorShape = 'openai' }: Operation): JsonObject {
    const byStatus = Map.groupBy([...new Set(errors)], (code) => errorKinds[code].status);
    return Object.fromEntries(
      [...byStatus].map(([status, codes]) => [String(status), this.#error(codes, errorShape)]),
    );
  }

  #error(codes: readonly ErrorCode[], shape: ErrorShape): JsonObject {
    const name = (shape === 'openai' ? codes : [shape, ...codes]).join('.');
    if (!this.#responses.has(name)) {
      const { mediaType, schemaWith } = errorShapes[shape];
      this.#responses.set(name, {
        description: codes.map(wordsOf).join('\n\n'),
        headers: this.#headersOf(shape, errorHeaders(codes)),
        content: { [mediaType]: { schema: this.#schemas.use(schemaWith(codes), 'answer') } },
      });
    }
    return { $ref: `#/components/responses/${name}` };
  }

  #headersOf(shape: ErrorShape | undefined, names: readonly HeaderName[]): JsonObject {
    const ids: readonly HeaderName[] =
      shape === 'messages' ? ['x-request-id', 'request-id'] : ['x-request-id'];
    return Object.fromEntries(
      [...ids, ...names].map((name) => {
        const wireName = wireNameOf(name, this.#names);
        const { description, schema } = headerOf(name);
        this.#headers.set(wireName, { description, schema: this.#schemas.use(schema, wireName) });
        return [wireName, { $ref: `#/components/headers/${wireName}` }];
      }),
    );
  }

  #content(content: Readonly<Record<string, Content>>, holder: string): JsonObject {
    return Object.fromEntries(
      Object.entries(content).map(([mediaType, one]) => [mediaType, this.#mediaType(one, holder)]),
    );
  }

  #mediaType(content: Content, holder: string): JsonObject {
    if (!('events' in content)) return { schema: this.#schemas.use(content, holder) };
    const { events, hasName, terminator } = content;
    return {
      schema: { type: 'string', description: 'Server-sent events; `x-itemSchema` describes each.' },
      // `itemSchema` of OpenAPI 3.2, of which 3.1 has nothing.
      'x-itemSchema': {
        type: 'object',
        required: hasName ? ['event', 'data'] : ['data'],
        properties: {
          ...(hasName && { event: { type: 'string', description: 'The `type` in the data.' } }),
          data: {
            type: 'string',
            description: 'An event as JSON.',
            contentMediaType: 'application/json',
            contentSchema: this.#schemas.use(events, holder),
          },
        },
      },
      ...(terminator !== undefined && { 'x-terminator': terminator }),
    };
  }
}

const inOpenaiShape = (shape: 'openai' | 'chat') => ({
  mediaType: 'application/json',
  schemaWith: (codes: readonly ErrorCode[]) => errorWith(codes, shape),
});

const errorShapes = {
  openai: inOpenaiShape('openai'),
  chat: inOpenaiShape('chat'),
  messages: { mediaType: 'application/json', schemaWith: messagesErrorWith },
  gemini: { mediaType: 'application/json', schemaWith: geminiErrorWith },
  problem: { mediaType: 'application/problem+json', schemaWith: problemWith },
} as const satisfies Record<ErrorShape, object>;

function wordsOf(code: ErrorCode): string {
  const { meaning, remedy } = errorKinds[code];
  return `\`${code}\`: ${meaning} ${remedy}`;
}

function errorHeaders(codes: readonly ErrorCode[]): readonly HeaderName[] {
  return [
    ...(codes.some((code) => errorKinds[code].status === 401)
      ? (['www-authenticate'] as const)
      : []),
    ...(codes.some((code) => errorKinds[code].retry) ? (['retry-after'] as const) : []),
    ...(codes.some((code) => final.includes(code)) ? (['x-should-retry'] as const) : []),
    ...(codes.includes('rate_limit_exceeded') ? rateHeaders : []),
  ];
}

/** Refusals that SDKs would retry by their status, in vain. */
const final: readonly ErrorCode[] = [
  'invalid_api_key',
  'key_daily_limit_reached',
  'key_monthly_limit_reached',
  'member_budget_reached',
  'rate_limit_exceeded',
  'not_supported',
  'idempotency_body_not_retained',
];

function inOrder(values: ReadonlyMap<string, JsonObject>): JsonObject {
  return Object.fromEntries([...values].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
