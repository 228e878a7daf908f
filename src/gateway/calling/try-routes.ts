// The loop over routes, for everything that is sold: calls one after the other until one answers. A
// policy chooses the next route; models, images and searches each have their own.

/** `kind` is `failure`, or any other word for an answer. */
type Result = { readonly kind: string };
type Failed<Tried extends Result> = Extract<Tried, { kind: 'failure' }>;

type Policy<Route, Tried extends Result> = {
  /** `number`: 1 for the request's first call. */
  readonly call: (route: Route, number: number) => Promise<Tried>;
  /** Returns the route to call after a failure; null: the request has failed. */
  readonly nextAfter: (failed: Failed<Tried>) => Route | null | Promise<Route | null>;
};

/** Returns the last call: the one that answered, or the one after which the policy gave up. */
export async function tryRoutes<Route, Tried extends Result>(
  first: Route,
  { call, nextAfter }: Policy<Route, Tried>,
): Promise<Tried> {
  let route = first;
  for (let number = 1; ; number++) {
    const tried = await call(route, number);
    if (tried.kind !== 'failure') return tried;
    const next = await nextAfter(tried as Failed<Tried>);
    if (next === null) return tried;
    route = next;
  }
}
