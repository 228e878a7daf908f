// A route of the public API.
import type { PublicOperation } from '../reference/reference.ts';
import type { Handler, RouteConfig } from './context.ts';
import type { ModelInPath } from './google-paths.ts';

/** The described URLs of a method. */
export type Url<Method extends string> = PublicOperation extends infer Name
  ? Name extends `${Method} ${infer Path}`
    ? Path
    : never
  : never;

export type Route = RouteConfig & {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: Url<'GET'> | Url<'POST'> | Url<'DELETE'>;
  readonly handler: Handler;
  /** Accepts a form as body. */
  readonly form?: boolean;
  /** The path names the model, as Google's do. */
  readonly modelInPath?: ModelInPath;
  /** Accepts a body of any type. */
  readonly anyBody?: boolean;
  /** Keeps its body in memory while it runs: large bodies wait for room before they are read. */
  readonly heavy?: boolean;
};
