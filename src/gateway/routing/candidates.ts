// The routes of a model for one request: their order, which work, and what the request may use
// there.
import { invalidRequest } from '../../canonical/errors.ts';
import type { Need } from '../../domain/catalog/model.ts';
import { withoutTiers, type AppliedPrice, type PriceFactor } from '../../domain/catalog/price.ts';
import { upstreamFormats } from '../../formats/registry.ts';
import { keyOfRoute } from '../calling/shared-health.ts';
import type { ChosenRoute } from './route.ts';
import { drawFor } from './conversation.ts';
import { orderRoutes } from './order.ts';
import { findTools } from './own-tools.ts';
import type { AskedTools } from './asked-tools.ts';
import type { ModelRequest, RouteLimits } from './write-request.ts';

/** An active route, and what the request may use there when all of it can be held. */
export type Candidate = RouteLimits & { readonly condition: Condition };

/** In order of rising preference. A route serves only when none of a higher condition can. */
const conditions = ['too-small', 'out-of-use', 'ready'] as const;
type Condition = (typeof conditions)[number];

/** Returns the active routes in order of rank and weight, whatever their condition. */
export function findCandidates(
  asked: ModelRequest,
  routes: readonly ChosenRoute[],
  factor: PriceFactor,
): readonly Candidate[] {
  const { gateway } = asked;
  const toCandidate = (route: ChosenRoute, condition: Condition): Candidate => ({
    route,
    tools: findTools({ ...asked, route }, factor),
    outputTokens: outputLimitOf(asked, route),
    condition,
  });
  if (routes.length === 1) return routes.map((route) => toCandidate(route, 'ready'));
  const avoided = gateway.hosts.routing.health.avoided(routes.map(({ name }) => name));
  return inOrder(asked, routes).map((route) => {
    if (!hasRoom(asked, route)) return toCandidate(route, 'too-small');
    return toCandidate(route, avoided.has(route.name) ? 'out-of-use' : 'ready');
  });
}

function inOrder(asked: ModelRequest, routes: readonly ChosenRoute[]): readonly ChosenRoute[] {
  // The sandbox plays all hosts and has no cache: the first one answers.
  if (routes[0]!.isSandbox) return orderRoutes(routes, () => 1);
  return orderRoutes(routes, ({ name }) => drawFor(asked.conversation(), keyOfRoute(name)));
}

/**
 * Sorts routes for trying: by condition, those that are too small by context size, largest first, and
 * those where the tools that the client asks for run before others, which leave them out. Own keys that
 * go first stay first: the account pays less there.
 */
export function inOrderOfTrial(
  { model }: Pick<ModelRequest, 'model'>,
  candidates: readonly Candidate[],
): Candidate[] {
  const width = ({ route, condition }: Candidate) =>
    condition === 'too-small' ? (route.contextTokens ?? model.contextTokens) : 0;
  const rank = ({ condition }: Candidate) => conditions.indexOf(condition);
  return candidates.toSorted(
    (one, other) => rank(other) - rank(one) || width(other) - width(one) || byTools(one, other),
  );
}

/** Sorts routes where the tools that the client asks for run first, and own keys that go first. */
export function byTools(one: RouteLimits, other: RouteLimits): number {
  const comesFirst = ({ route, tools }: RouteLimits) => tools !== null || route.rank < 0;
  return Number(comesFirst(other)) - Number(comesFirst(one));
}

/** The highest price and limits of all routes: a hold for them covers the request on any route. */
export type HighestTerms = {
  readonly price: AppliedPrice;
  readonly tools: AskedTools | null;
  readonly outputTokens: number;
  /**
   * True when input may be cached for an hour: only in Messages and Converse; other formats refuse it.
   */
  readonly cachesLong: boolean;
};

const longCaches: ReadonlySet<string> = new Set(['messages', 'converse']);

export function highestOf(
  candidates: readonly Candidate[],
  tokenPrice: AppliedPrice,
): HighestTerms {
  const tools = mostOf(candidates.flatMap((candidate) => candidate.tools ?? []));
  const outputTokens = Math.max(...candidates.map((candidate) => candidate.outputTokens));
  const cachesLong = candidates.some(({ route: { format } }) => longCaches.has(format));
  const price = tools ? { ...tokenPrice, search: tools.price } : tokenPrice;
  return { price, tools, outputTokens, cachesLong };
}

/** What the provider runs and what we run can differ in number and price. */
function mostOf([first, ...others]: readonly AskedTools[]): AskedTools | null {
  if (!first) return null;
  return others.reduce(
    (most, { searchesMax, price, mayBeFewer, own, readings }) => ({
      ...most,
      searchesMax: Math.max(most.searchesMax, searchesMax),
      price: price.listPicos > most.price.listPicos ? price : most.price,
      mayBeFewer: most.mayBeFewer || mayBeFewer,
      ...(!most.own && own && { own }),
      ...(readings && { readings }),
    }),
    first,
  );
}

export function priceWith(tokenPrice: AppliedPrice, tools: AskedTools | null): AppliedPrice {
  if (!tools) return tokenPrice;
  const { list, upstream } = tokenPrice;
  // Each turn with tools of ours is below all tiers; their sum may not be.
  const base = tools.own && { list: withoutTiers(list), upstream: withoutTiers(upstream) };
  return { ...tokenPrice, ...base, search: tools.price };
}

/**
 * Returns true when the input and output probably fit. The estimate is an upper one: a route that
 * seems too small is only less preferred, and the provider's own count decides when there is no
 * other.
 */
function hasRoom(
  { model, request, estimate }: ModelRequest,
  { contextTokens }: ChosenRoute,
): boolean {
  const { maxOutputTokens, prompts = 1 } = request;
  const room = (contextTokens ?? model.contextTokens) * prompts;
  return estimate.upper + (maxOutputTokens ?? 0) <= room;
}

/**
 * Returns the caller's maximum, limited by the model and the upstream's minimum; without one, the
 * configured default.
 */
function outputLimitOf(
  { gateway: { config }, model, request }: ModelRequest,
  { format }: ChosenRoute,
): number {
  const least = upstreamFormats[format].outputTokensMin ?? 1;
  const wanted = request.maxOutputTokens ?? config.limits.default_max_output_tokens;
  return Math.max(Math.min(wanted, model.maxOutputTokens), least);
}

/** Throws ApiError `invalid_request` when the model does not support what the request needs. */
export function refuseLacking(asked: ModelRequest, route: ChosenRoute): void {
  if (route.lacks.size === 0) return;
  for (const [need, { isNeeded, param, what }] of Object.entries(needs)) {
    if (route.lacks.has(need as Need) && isNeeded(asked))
      throw invalidRequest(param, `the provider of this model ${what}`);
  }
}

type NeedOfRequest = {
  readonly isNeeded: (asked: ModelRequest) => boolean;
  readonly param: string | null;
  readonly what: string;
};

const needs: Readonly<Record<Need, NeedOfRequest>> = {
  streaming: {
    isNeeded: ({ request }) => request.stream,
    param: 'stream',
    what: 'cannot stream; leave out `stream`',
  },
  vision: { isNeeded: ({ estimate }) => estimate.hasImages, param: null, what: 'takes no images' },
  tools: {
    isNeeded: ({ request: { body } }) =>
      [body.tools, body.functions].some((list) => Array.isArray(list) && list.length > 0),
    param: 'tools',
    what: 'calls no tools; leave out `tools`',
  },
};
