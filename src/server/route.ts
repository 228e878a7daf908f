// A route of the public API.
import type { PublicOperation } from '../reference/reference.ts';
import type { KeyScope } from '../terms/key-scope.ts';
import type { Handler, QueryKey } from './context.ts';
import type { ModelInPath } from './google-paths.ts';

/** The described URLs of a method. */
export type Url<Method extends string> = PublicOperation extends infer Name
  ? Name extends `${Method} ${infer Path}`
    ? Path
    : never
  : never;

export type Route = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: Url<'GET'> | Url<'POST'> | Url<'DELETE'>;
  /** A scope: a key that has it is required. */
  readonly auth: KeyScope | 'optional' | 'none';
  readonly handler: Handler;
  /** The parameter of the query that may hold the key. */
  readonly queryKey?: QueryKey;
  readonly refusedUnderLoad?: boolean;
  /** Accepts a form as body. */
  readonly form?: boolean;
  /** Its body is a form with a large file. */
  readonly isUpload?: boolean;
  /** The path names the model, as Google's do. */
  readonly modelInPath?: ModelInPath;
  /** Accepts a body of any type. */
  readonly anyBody?: boolean;
  /** Keeps its body in memory while it runs: large bodies wait for room before they are read. */
  readonly heavy?: boolean;
  /** Limit of the body; default: `server.body_limit_bytes`. */
  readonly bodyBytesMax?: number;
};
