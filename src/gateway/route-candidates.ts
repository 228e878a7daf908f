// The routes of a model as one request sees them: in which order, which of them work, and what it may use there.
import { invalidRequest } from '../canonical/errors.ts';
import type { Need } from '../catalog/model.ts';
import type { AppliedPrice, PriceFactor } from '../catalog/price.ts';
import { outputLimitOf } from './hold.ts';
import type { ChosenRoute, HttpRoute } from './route.ts';
import { orderRoutes } from './route-order.ts';
import type { Asked } from './running.ts';
import { readSearch, type AskedSearch } from './search.ts';
import type { RouteLimits } from './upstream-request.ts';

/** A route that is switched on, with what the request may use there when all of it can be held. */
export type Candidate = RouteLimits & { readonly standing: Standing };

/** By rising preference: a route serves only when none of a better standing can. */
const standings = ['too-small', 'out-of-use', 'ready'] as const;
type Standing = (typeof standings)[number];

/** In the order of their ranks and weights, whatever their standing. */
export function findCandidates(asked: Asked, routes: readonly ChosenRoute[], factor: PriceFactor): readonly Candidate[] {
  const { gateway, model, request } = asked;
  const toCandidate = (route: ChosenRoute, standing: Standing): Candidate => ({
    route,
    search: readSearch(gateway, { ...asked, route }, factor),
    outputTokens: outputLimitOf(gateway, { model, request, route }),
    standing,
  });
  const overHttp = routes.filter((route) => route.transport === 'http');
  if (routes.length === 1 || overHttp.length < routes.length) return routes.map((route) => toCandidate(route, 'ready'));
  const avoided = gateway.routing.health.avoided(overHttp.map(({ name }) => name));
  const ordered = orderRoutes(overHttp, gateway.routing.random);
  return ordered.map((route) => {
    if (!hasRoom(asked, route)) return toCandidate(route, 'too-small');
    return toCandidate(route, avoided.has(route.name) ? 'out-of-use' : 'ready');
  });
}

/** The order in which they are tried: by standing, and among those that are too small the widest first. */
export function inOrderOfTrial({ model }: Pick<Asked, 'model'>, candidates: readonly Candidate[]): Candidate[] {
  const width = ({ route, standing }: Candidate) =>
    standing === 'too-small' && route.transport === 'http' ? (route.contextTokens ?? model.contextTokens) : 0;
  const rank = ({ standing }: Candidate) => standings.indexOf(standing);
  return candidates.toSorted((one, other) => rank(other) - rank(one) || width(other) - width(one));
}

/** What covers the request by whichever route. */
export type Dearest = { readonly price: AppliedPrice; readonly search: AskedSearch | null; readonly outputTokens: number };

export function dearestOf(candidates: readonly Candidate[], tokenPrice: AppliedPrice): Dearest {
  let search: AskedSearch | null = null;
  for (const candidate of candidates) {
    if (candidate.search && (!search || candidate.search.price.listPicos > search.price.listPicos)) search = candidate.search;
  }
  const outputTokens = Math.max(...candidates.map((candidate) => candidate.outputTokens));
  return { price: priceWith(tokenPrice, search), search, outputTokens };
}

export function priceWith(tokenPrice: AppliedPrice, search: AskedSearch | null): AppliedPrice {
  return search ? { ...tokenPrice, search: search.price } : tokenPrice;
}

/** By an upper estimate: too small a route is a matter of preference, and the provider's own count decides where there is no other. */
function hasRoom({ model, request, estimate }: Asked, { contextTokens }: HttpRoute): boolean {
  return estimate.upper + (request.maxOutputTokens ?? 0) <= (contextTokens ?? model.contextTokens);
}

/** Throws ApiError `invalid_request` when the model cannot do there what the request needs. */
export function refuseLacking(asked: Asked, route: ChosenRoute): void {
  if (route.transport !== 'http' || route.lacks.size === 0) return;
  for (const [need, { isNeeded, param, what }] of Object.entries(needs)) {
    if (route.lacks.has(need as Need) && isNeeded(asked)) throw invalidRequest(param, `the provider of this model ${what}`);
  }
}

type NeedOfRequest = { readonly isNeeded: (asked: Asked) => boolean; readonly param: string | null; readonly what: string };

const needs: Readonly<Record<Need, NeedOfRequest>> = {
  streaming: { isNeeded: ({ request }) => request.stream, param: 'stream', what: 'cannot stream; leave out `stream`' },
  vision: { isNeeded: ({ estimate }) => estimate.hasImages, param: null, what: 'takes no images' },
  tools: {
    isNeeded: ({ request: { body } }) => [body.tools, body.functions].some((list) => Array.isArray(list) && list.length > 0),
    param: 'tools',
    what: 'calls no tools; leave out `tools`',
  },
};
