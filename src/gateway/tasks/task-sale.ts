// Sells tasks: work of a model other than answering a conversation, such as speech. A `Task` holds only
// what is specific to one of them. The routes of its model are called in order until one answers.
import type { ApiError } from '../../canonical/errors.ts';
import type { UpstreamFailure } from '../../canonical/event.ts';
import { UpstreamBroken } from '../../canonical/upstream-broken.ts';
import type { Model } from '../../domain/catalog/model.ts';
import {
  atCost,
  ownKeyPrice,
  passedPrice,
  priceFor,
  type AppliedPrice,
} from '../../domain/catalog/price.ts';
import type { TaskRequest } from '../../domain/tasks/task-request.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { Upload } from '../../lib/upload.ts';
import type { ModelType } from '../../terms/model-type.ts';
import { findModel } from '../admission/permitted-model.ts';
import { callRoute, tryInOrder, type Callable } from '../calling/call-route.ts';
import { toModelError, withOwner } from '../calling/failure-message.ts';
import { readPassed } from '../calling/read-reply.ts';
import { blamesRequest } from '../calling/retry-policy.ts';
import { Output } from '../answering/output.ts';
import type { Headers } from '../client.ts';
import type { Gateway } from '../gateway.ts';
import { writeNames } from '../headers.ts';
import type { Caller, PassedLine } from '../request.ts';
import { retirementHeaders } from '../retirement.ts';
import { orderRoutes } from '../routing/order.ts';
import { ownKeyTermsOf, priceFactorFor } from '../routing/price-factor.ts';
import { findRoutes, modelNotFound, passedRoute, type ChosenRoute } from '../routing/route.ts';
import type { Endpoint, HeldRequest } from '../stages.ts';
import { mayBeBilled, type Sending } from './task-call.ts';
import {
  atMost,
  chargedPrice,
  costOfCount,
  highestPrice,
  isByUnit,
  type Count,
  type Size,
} from './task-price.ts';
import { saleOfUnits, writeFailure, type Delivery, type UnitsAsked } from '../sales/units.ts';
import type { HostQuery } from '../../providers/provider.ts';

export type TaskRoute<Host> = Callable & { readonly chosen: ChosenRoute; readonly host: Host };

export type Task<Request extends TaskRequest, Host, Made> = {
  readonly type: ModelType;
  /** Its name in usage records. */
  readonly endpoint: string;
  /** Throws ApiError 400. */
  readonly read: (body: unknown, upload: Upload | null) => Request;
  /** Returns null for a host that does not do it. */
  readonly hostOf: (query: HostQuery & { readonly upstreamModel: string }) => Host | null;
  /** Left out: every host serves every request. */
  readonly serves?: (host: Host, request: Request) => boolean;
  /** For a request that none of the hosts serves. */
  readonly refuse?: (request: Request, model: Model, hosts: readonly Host[]) => ApiError;
  /** Throws ApiError 400 for what the model does not take. */
  readonly measure: (
    request: Request,
    model: Model,
    routes: readonly TaskRoute<Host>[],
  ) => Measured;
  /** True when its answer is passed on as it comes; left out: never. */
  readonly isStream?: (request: Request) => boolean;
  readonly isCachedUnasked?: (gateway: Gateway) => boolean;
  /** Throws UpstreamBroken. */
  readonly call: (route: TaskRoute<Host>, calling: Calling<Request>) => Promise<Called<Made>>;
  /**
   * Returns the one call that serves the request, which a batch API may run; null: it takes several.
   * Left out: no batch API runs any.
   */
  readonly batchCall?: (
    route: TaskRoute<Host>,
    asked: Wanted<Request>,
  ) => { readonly path: string; readonly body: JsonObject; readonly inputs: number } | null;
  /** Returns the fields of the request that a host has no word for. */
  readonly ignoredAt: (host: Host, request: Request) => readonly string[];
  readonly answer: (made: Made, sold: SoldTask<Request>) => TaskAnswer;
};

/** `lastFrame`: as in `Delivery`, of a stream that has begun. */
type TaskAnswer =
  | Pick<Delivery & { kind: 'delivered' }, 'body' | 'contentType'>
  | { readonly lastFrame: (costUsd: number) => string };

type Measured = Pick<UnitsAsked, 'prompt' | 'tokens' | 'answerBytes'> & {
  readonly sizeAs: (isByUnit: boolean) => Size;
};

export type Calling<Request> = {
  readonly gateway: Gateway;
  readonly caller: Caller;
  readonly model: Model;
  readonly request: Request;
  readonly size: Size;
  readonly isByUnit: boolean;
  /** What `sendTask` needs. */
  readonly sending: Sending;
  readonly stream: Output;
  /** Passes pieces of the answer on. Resolves when there is room for more. */
  readonly passOn: (pieces: Iterable<Buffer>, contentType: string) => Promise<void>;
};

export type Called<Made> = {
  /** Left out: 1. */
  readonly calls?: number;
} & (
  | {
      readonly made: Made;
      readonly count: Count;
      /** The host counts nothing, so the count is ours. */
      readonly isEstimate: boolean;
      /** It was passed on only in part; left out: it was passed on whole. */
      readonly isCut?: boolean;
      readonly failure?: never;
    }
  /** `lost`: what the provider bills and nobody gets. */
  | { readonly failure: UpstreamFailure; readonly lost: Count }
);

type SoldTask<Request> = Pick<Calling<Request>, 'model' | 'request' | 'isByUnit'> & {
  /** As charged. */
  readonly count: Count;
};

/** Throws ApiError 400 or 404. */
export function taskEndpoint<Request extends TaskRequest, Host, Made>(
  task: Task<Request, Host, Made>,
): Endpoint {
  return (gateway, { body, caller, passed, upload = null }) => {
    const { key, record } = caller;
    const request = task.read(body, upload);
    record.note({ askedModel: request.model });
    const model = findModel(gateway, key, request.model, task.type);
    const wanted = { gateway, caller, model, request };
    const routes = routesOf(task, wanted, passed);
    const { prompt, tokens, answerBytes, sizeAs } = task.measure(request, model, routes);
    const [{ route: first, chosen }] = routes;
    const facts = {
      modelId: model.id,
      provider: first.provider,
      route: `${first.provider} ${first.upstreamModel}`,
      headers: retirementHeaders(model.retirement),
      body: request.body,
      prompt,
      tokens,
      // An answer of a provider's batch API is in memory already, so it needs no room.
      ...(answerBytes !== undefined && !passed?.answer && { answerBytes }),
      isCachedUnasked: task.isCachedUnasked?.(gateway) ?? false,
      ...(request.isEvents && {
        writeFailure: (error: ApiError) => writeFailure({ gateway, caller }, error),
      }),
    };
    return saleOfUnits(facts, () => {
      const nowMs = gateway.clock.nowMs();
      const listed = priceFor(model, { ...priceFactorFor(gateway, key, model.id), nowMs });
      if (!listed) throw modelNotFound(model.id);
      const hasOwnKey = routes.some(({ route }) => route.ownKeyId !== undefined);
      const price = {
        ...(passed ? passedPrice(listed) : listed),
        ...(hasOwnKey && { ownKey: ownKeyTermsOf(gateway) }),
      };
      const size = sizeAs(isByUnit(price));
      const units = {
        endpoint: task.endpoint,
        modelName: model.displayName,
        unit: { ...size.unit, counted: null },
        count: size.count,
        most: highestPrice(price, size),
        likelyPicos: costOfCount(priceOn(chosen, price).upstream, size.likely),
        countField: null,
      };
      const asked = { task, model, request, routes, price, size, passed };
      return {
        units,
        deliver: (held) => deliver(asked, held),
        hasRun: Boolean(passed?.answer),
        firstCall() {
          const call = task.batchCall?.(routes[0], wanted);
          if (!call) return null;
          const written = { path: call.path, body: JSON.stringify(call.body) };
          return { route: chosen, price, tools: null, written, inputs: call.inputs };
        },
      };
    });
  };
}

type Routes<Host> = readonly [TaskRoute<Host>, ...TaskRoute<Host>[]];
type Wanted<Request> = Pick<Calling<Request>, 'gateway' | 'caller' | 'model' | 'request'>;

/** In order. Throws ApiError `model_not_found`, or that of `refuse`. */
function routesOf<Request extends TaskRequest, Host, Made>(
  { hostOf, serves = () => true, refuse }: Task<Request, Host, Made>,
  { gateway: { hosts }, caller, model, request }: Wanted<Request>,
  passed: PassedLine | undefined,
): Routes<Host> {
  const { mode, ownKeys } = caller.key;
  const live = findRoutes(hosts, { model, mode, clientFormat: 'chat', ownKeys });
  const found = passed ? [passedRoute(passed, live, model)] : live;
  const all = orderRoutes(found, () => 1 - hosts.routing.random()).flatMap((chosen) => {
    const { kind, upstreamModel, provider } = chosen;
    const host = hostOf({ kind: kind.kind, upstreamModel, wishes: provider.wishes });
    // The answer of a batch API says nothing of the route's health now.
    const baseUrl = chosen.isSandbox || passed ? null : chosen.provider.baseUrl;
    return host ? [{ chosen, host, route: chosen.name, baseUrl }] : [];
  });
  const [first, ...others] = all.filter(({ host }) => serves(host, request));
  if (first) return [first, ...others];
  const taking = all.map(({ host }) => host);
  throw (taking.length > 0 && refuse?.(request, model, taking)) || modelNotFound(model.id);
}

type Asked<Request extends TaskRequest, Host, Made> = {
  readonly task: Task<Request, Host, Made>;
  readonly model: Model;
  readonly request: Request;
  readonly routes: Routes<Host>;
  readonly price: AppliedPrice;
  readonly size: Size;
  readonly passed: PassedLine | undefined;
};

async function deliver<Request extends TaskRequest, Host, Made>(
  asked: Asked<Request, Host, Made>,
  held: HeldRequest,
): Promise<Delivery> {
  const { task, model, request, routes, price, size, passed } = asked;
  const { gateway, caller } = held;
  const { hosts, clock, headers } = gateway;
  const { record } = caller;
  const { run: signals } = held.running;
  const isStream = task.isStream?.(request) ?? false;
  const stream = new Output(held, null);
  const { isEvents = false } = request;
  const shared = { gateway, caller, model, request, size, isByUnit: isByUnit(price), stream };
  let calls = 0;
  let lostPicos = 0n;
  let spoiledPicos = 0n;
  const { routing, takeCall } = hosts;
  const order = { routes, health: routing.health, takeCall, isSearch: false, signals };
  const recording = { record, clock, signal: signals.running };
  const made = await tryInOrder(order, (route, { number }) =>
    callRoute(recording, { ...route, isStream, number }, async ({ trace }, noteFirstByte) => {
      const { chosen } = route;
      const callNumber = calls + 1;
      const calling = {
        ...shared,
        sending: {
          upstreams: hosts.upstreams,
          model,
          route: chosen,
          trace,
          signal: signals.running,
          ...(passed?.answer && { readPassed: () => readPassed(passed.answer!, clock.nowMs()) }),
        },
        async passOn(pieces: Iterable<Buffer>, contentType: string) {
          if (!stream.hasFrames) {
            noteFirstByte();
            stream.noteFirstByte();
            stream.head = {
              contentType,
              answer: ignoredHeader(asked, gateway, route),
              route: {
                [headers.route]: route.route.provider,
                [headers.attempts]: String(callNumber),
              },
            };
          }
          for (const piece of pieces) await stream.write(piece);
        },
      };
      const at = await task.call(route, calling).catch((error: unknown) => failedCall(error, size));
      calls += at.calls ?? 1;
      if (!at.failure) return { kind: 'made', route, ...at } as const;
      const { upstream } = priceOn(chosen, price);
      // Otherwise a refused text behind good ones would make those free.
      const spoiled = isOfRequest(at.failure)
        ? costOfCount(upstream, atMost(at.lost, size.most))
        : 0n;
      spoiledPicos += spoiled;
      lostPicos += costOfCount(upstream, at.lost) - spoiled;
      // A part was passed on, so no other route can serve.
      const kind = stream.hasFrames ? 'broken' : 'failure';
      return { kind, route, failure: withOwner(at.failure, chosen.name) } as const;
    }),
  );
  const { route } = made;
  const { provider } = route.route;
  const spoiled = { provider, calls, picos: spoiledPicos };
  if (made.kind !== 'made')
    return {
      kind: 'failed',
      error: toModelError(made.failure, model, clock.nowMs()),
      lostPicos,
      spoiled,
      ...(made.kind === 'broken' && { begun: { output: stream, isEvents, lastFrame: null } }),
    };
  const routePrice = priceOn(route.chosen, price);
  const count = atMost(made.count, size.most);
  const answer = task.answer(made.made, { ...shared, count });
  return {
    kind: 'delivered',
    count: 0,
    price: chargedPrice(routePrice, count),
    isEstimate: made.isEstimate,
    provider,
    calls,
    isWhole: route === routes[0] && !made.isCut,
    ...('lastFrame' in answer
      ? { begun: { output: stream, isEvents, lastFrame: made.isCut ? null : answer.lastFrame } }
      : answer),
    headers: ignoredHeader(asked, gateway, route),
    usableForMs: null,
    spoiled,
    lostPicos:
      lostPicos +
      costOfCount(routePrice.upstream, made.count) -
      costOfCount(routePrice.upstream, count),
  };
}

function priceOn({ costPpm, name }: ChosenRoute, price: AppliedPrice): AppliedPrice {
  const there = atCost(price, costPpm);
  return name.ownKeyId === undefined ? there : ownKeyPrice(there, { isOwnSearch: false });
}

function failedCall(error: unknown, { likely }: Size) {
  if (!(error instanceof UpstreamBroken)) throw error;
  const { failure } = error;
  return { failure, lost: mayBeBilled(failure) ? likely : {}, calls: 1 };
}

/** The account could cause it: a text is refused, or the answer is one that only the request explains. */
function isOfRequest(failure: UpstreamFailure): boolean {
  const isRefused = failure.kind === 'status' && blamesRequest(failure);
  return isRefused || failure.isCausedByAccount === true;
}

function ignoredHeader<Request extends TaskRequest, Host, Made>(
  { task, request }: Asked<Request, Host, Made>,
  gateway: Gateway,
  { host }: TaskRoute<Host>,
): Headers {
  const names = [...request.ignored, ...task.ignoredAt(host, request)];
  return names.length > 0 ? { [gateway.headers.ignored]: writeNames(names) } : {};
}
