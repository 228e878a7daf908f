// The order in which a model's routes are tried.

type Ranked = { readonly rank: number; readonly weight: number };

/**
 * Sorts routes by rising rank. Routes of one rank share load by weight: with weights 3 and 1, the
 * first comes first in three of four requests. `random` returns numbers from 0 up to, not
 * including, 1.
 */
export function orderRoutes<Route extends Ranked>(
  routes: readonly Route[],
  random: () => number,
): Route[] {
  if (routes.length <= 1) return [...routes];
  const left = routes.toSorted((one, other) => one.rank - other.rank);
  const ordered: Route[] = [];
  while (left.length > 0) ordered.push(...left.splice(drawFirst(left, random), 1));
  return ordered;
}

/** Picks the index of one of the routes that share the first rank. */
function drawFirst(routes: readonly Ranked[], random: () => number): number {
  const peers = routes.filter(({ rank }) => rank === routes[0]!.rank);
  if (peers.length === 1) return 0;
  let left = random() * peers.reduce((sum, { weight }) => sum + weight, 0);
  const index = peers.findIndex(({ weight }) => (left -= weight) < 0);
  return Math.max(index, 0);
}
