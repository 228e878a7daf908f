// The order in which a model's routes are tried.

type Ranked = { readonly rank: number; readonly weight: number };

/**
 * Sorts routes by rising rank. Routes of one rank share load by weight: with weights 3 and 1, the
 * first comes first in three of four conversations. `draw` returns a number above 0, up to 1, for
 * each route; with the same draws, a route that is added or removed moves no other.
 */
export function orderRoutes<Route extends Ranked>(
  routes: readonly Route[],
  draw: (route: Route) => number,
): Route[] {
  if (new Set(routes.map(({ rank }) => rank)).size === routes.length)
    return routes.toSorted((one, other) => one.rank - other.rank);
  // Weighted rendezvous hashing. With `-ln(draw) / weight`, a route comes first as often as its weight
  // is of the sum.
  const times = new Map(routes.map((route) => [route, -Math.log(draw(route)) / route.weight]));
  return routes.toSorted(
    (one, other) => one.rank - other.rank || times.get(one)! - times.get(other)!,
  );
}
