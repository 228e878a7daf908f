// Sells what a model makes in one call, such as a ranking: the routes of such a model, the call at each
// until one answers, and what is charged and lost by it.
import type { UpstreamFailure } from '../../canonical/event.ts';
import type { Model } from '../../domain/catalog/model.ts';
import { atCost, priceFor, type AppliedPrice } from '../../domain/catalog/price.ts';
import type { ApiKey } from '../../domain/keys/api-key.ts';
import type { JsonObject } from '../../lib/json.ts';
import { callInOrder, type Callable } from '../calling/call-route.ts';
import { toModelError } from '../calling/failure-message.ts';
import type { Gateway } from '../gateway.ts';
import { writeNames } from '../headers.ts';
import type { Caller } from '../request.ts';
import { retirementHeaders } from '../retirement-headers.ts';
import { orderRoutes } from '../routing/order.ts';
import { priceFactorFor } from '../routing/price-factor.ts';
import { findRoutes, modelNotFound, type ChosenRoute } from '../routing/route.ts';
import { sendTask, unreadable, type TaskCall } from '../tasks/task-call.ts';
import type { Delivery, SaleSignals, UnitPrice } from './units.ts';

type TaskRoute<Host> = Callable & { readonly chosen: ChosenRoute; readonly host: Host };
export type TaskRoutes<Host> = readonly [TaskRoute<Host>, ...TaskRoute<Host>[]];

/**
 * Returns the routes in order. `hostOf`: null when the host does not do it. Throws ApiError
 * `model_not_found`.
 */
export function taskRoutes<Host>(
  { hosts }: Gateway,
  { model, key }: { readonly model: Model; readonly key: ApiKey },
  hostOf: (chosen: ChosenRoute) => Host | null,
): TaskRoutes<Host> {
  const found = findRoutes(hosts, { model, mode: key.mode, clientFormat: 'chat' });
  const [first, ...others] = orderRoutes(found, () => 1 - hosts.routing.random()).flatMap(
    (chosen) => {
      const host = hostOf(chosen);
      const baseUrl = chosen.isSandbox ? null : chosen.provider.baseUrl;
      return host ? [{ chosen, host, route: chosen.name, baseUrl }] : [];
    },
  );
  if (!first) throw modelNotFound(model.id);
  return [first, ...others];
}

/** What is known of such a sale before its price. */
export function factsOf<Host>(
  { retirement, id: modelId }: Model,
  [{ route }]: TaskRoutes<Host>,
  body: JsonObject,
) {
  return {
    modelId,
    provider: route.provider,
    route: `${route.provider} ${route.upstreamModel}`,
    headers: retirementHeaders(retirement),
    body,
  };
}

/** Throws ApiError `model_not_found` for a model without a price. */
export function currentPrice(
  gateway: Gateway,
  { model, key }: { readonly model: Model; readonly key: ApiKey },
): AppliedPrice {
  const nowMs = gateway.clock.nowMs();
  const price = priceFor(model, { ...priceFactorFor(gateway, key, model.id), nowMs });
  if (!price) throw modelNotFound(model.id);
  return price;
}

/** The price of the unit that the model sells, else of an input token. */
export function unitPrice({ list, upstream }: AppliedPrice): UnitPrice {
  return {
    listPicos: list.unit ?? BigInt(list.base.input),
    upstreamPicos: upstream.unit ?? BigInt(upstream.base.input),
    version: list.version,
  };
}

export type OneCall<Host, Made> = {
  readonly gateway: Gateway;
  readonly caller: Caller;
  readonly model: Model;
  readonly routes: TaskRoutes<Host>;
  readonly price: AppliedPrice;
  readonly countMax: number;
  /** For a host that counts nothing, and for a call that broke off. */
  readonly ownCount: number;
  readonly write: (route: TaskRoute<Host>) => TaskCall;
  /** Returns what is wrong with an answer that cannot be used. `count`: null: the host counts none. */
  readonly read: (
    answer: JsonObject,
    route: TaskRoute<Host>,
  ) => { readonly made: Made; readonly count: number | null } | string;
  readonly play: (
    signal: AbortSignal,
  ) => Promise<
    | { readonly kind: 'made'; readonly made: Made }
    | { readonly kind: 'failure'; readonly failure: UpstreamFailure }
  >;
  readonly answer: (made: Made, count: number) => JsonObject;
  readonly ignoredAt: (route: TaskRoute<Host>) => readonly string[];
};

type Called<Host, Made> =
  | {
      readonly kind: 'made';
      readonly route: TaskRoute<Host>;
      readonly made: Made;
      readonly count: number | null;
      readonly failure?: never;
    }
  | { readonly kind: 'failure'; readonly failure: UpstreamFailure };

export async function deliverOneCall<Host, Made>(
  task: OneCall<Host, Made>,
  signals: SaleSignals,
): Promise<Delivery> {
  const { gateway, caller, model, routes, ownCount } = task;
  const { hosts, clock, headers } = gateway;
  const { record } = caller;
  let calls = 0;
  let lostPicos = 0n;
  const priceAt = ({ chosen }: TaskRoute<Host>) => unitPrice(atCost(task.price, chosen.costPpm));
  const order = { routes, health: hosts.routing.health, isSearch: false, record, clock, signals };
  const made = await callInOrder<TaskRoute<Host>, Called<Host, Made>>(
    order,
    async (route, { trace }) => {
      calls += 1;
      const { chosen } = route;
      if (chosen.isSandbox) {
        const played = await task.play(signals.running);
        return played.kind === 'made' ? { ...played, route, count: ownCount } : played;
      }
      const sending = {
        upstreams: hosts.upstreams,
        model,
        route: chosen,
        trace,
        signal: signals.running,
      };
      const reply = await sendTask(sending, task.write(route));
      const read = reply.kind === 'answer' ? task.read(reply.body, route) : null;
      if (read !== null && typeof read !== 'string') return { kind: 'made', route, ...read };
      const failed = reply.kind === 'failure' ? reply : unreadable(read!);
      if (failed.mayBeBilled) lostPicos += priceAt(route).upstreamPicos * BigInt(ownCount);
      return { kind: 'failure', failure: failed.failure };
    },
  );
  if (made.kind === 'failure')
    return { kind: 'failed', error: toModelError(made.failure, model, clock.nowMs()), lostPicos };
  const { route } = made;
  const counted = made.count ?? ownCount;
  const count = Math.min(counted, task.countMax);
  const price = priceAt(route);
  const ignored = task.ignoredAt(route);
  return {
    kind: 'delivered',
    count,
    price,
    isEstimate: made.count === null,
    provider: route.route.provider,
    calls,
    isWhole: route === routes[0],
    body: task.answer(made.made, count),
    headers: ignored.length > 0 ? { [headers.ignored]: writeNames(ignored) } : {},
    usableForMs: null,
    lostPicos: lostPicos + BigInt(counted - count) * price.upstreamPicos,
  };
}
