// How an endpoint is described. The documents are built from tables of these
// (`public-operations.ts`, `reference.ts`, `dashboard-operations.ts`).
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../canonical/errors.ts';
import type { JsonObject } from '../lib/json.ts';
import type { HeaderName } from './headers.ts';

export type Operation = {
  /** The name that generated clients give it. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  readonly access: Access;
  readonly parameters?: readonly Parameter[];
  readonly body?: Body;
  /** Successful answers, by status. */
  readonly answers: Readonly<Record<number, Answer>>;
  readonly errors: readonly ErrorCode[];
  /** The path as clients know it. Left out: that of the route. */
  readonly path?: string;
  /** Default: OpenAI's. */
  readonly errorShape?: ErrorShape;
};

export type Access =
  /** An API key. `optional-key`: without one, the answer is for everybody. */
  | 'key'
  | 'optional-key'
  /** An API key, which may also be in the query. */
  | 'key-or-query'
  /** As Google's clients send it, also in the query. */
  | 'google-key'
  | 'optional-google-key'
  /** The token of `metrics.token`. */
  | 'metrics-token'
  /** The cookie of a dashboard session. */
  | 'session'
  /** A key of the admin API. */
  | 'admin-key'
  | 'open';

export type ErrorShape = 'openai' | 'chat' | 'messages' | 'gemini' | 'problem';

export type Parameter = {
  /** One of our own headers is named by its key, such as `cache`. */
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  /** A parameter in the path is always required. */
  readonly isRequired?: boolean;
  readonly schema: TSchema;
};

/** Schemas by media type. */
type Body = {
  readonly content: Readonly<Record<string, TSchema>>;
  /** A request in JSON that works in test mode, too. */
  readonly example?: JsonObject;
};

export type Answer = {
  readonly description: string;
  readonly headers?: readonly HeaderName[];
  /** Schemas by media type. Left out: the answer has no body. */
  readonly content?: Readonly<Record<string, Content>>;
};

export type Content =
  | TSchema
  /** Server-sent events. `data` is the JSON of each; `hasName`: `event:` repeats its `type`. */
  | {
      readonly events: TSchema;
      readonly hasName: boolean;
      /** A last line of data that is no JSON. */
      readonly terminator?: string;
    };
