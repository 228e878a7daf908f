// A call of a model, as far as its price, its charge and its losses depend on it.
import type { MadePrice } from '../images/made-cost.ts';
import type { ImagesRun } from '../../domain/catalog/price.ts';
import type { Clock } from '../../lib/clock.ts';
import { freePrice } from '../../terms/price-terms.ts';
import type { Logger } from '../../lib/log.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { Caller } from '../request.ts';
import type { Attempt, RoutePlan } from '../routing/plan.ts';
import type { Routing } from '../routing/routing.ts';
import type { ModelRequest } from '../routing/write-request.ts';
import type { Running } from './offer.ts';
import type { UnseenOutput } from './unseen-output.ts';
import type { Granted } from './worst-case.ts';

/** Images of one call, with the price of all of them. */
export class DrawnImages {
  /** null: none. */
  images: ImagesRun | null = null;
  /** A tool of ours or the call behind it failed, so the answer is none for others. */
  isIncomplete = false;

  add({ listPicos, upstreamPicos, request }: MadePrice): void {
    const before = this.images ?? { count: 0, ...freePrice };
    this.images = {
      count: before.count + 1,
      listPicos: before.listPicos + listPicos + (request?.listPicos ?? 0n),
      upstreamPicos: before.upstreamPicos + upstreamPicos + (request?.upstreamPicos ?? 0n),
    };
  }
}

export type ModelCall = {
  readonly attempt: Attempt;
  /** 1 for the request's first call. */
  readonly number: number;
  /** Counts what the call may have written without showing it. */
  readonly unseen: UnseenOutput;
  /** The images that the gateway drew for it so far. */
  readonly drawn: DrawnImages;
  /** What the provider is sent as its trace; null: none. */
  readonly trace: TraceContext | null;
};

export type CalledModel = {
  readonly gateway: {
    readonly hosts: { readonly routing: Pick<Routing, 'noteCounts'> };
    readonly log: Pick<Logger, 'warn'>;
    readonly clock: Clock;
  };
  readonly caller: Caller;
  readonly running: Pick<Running, 'run'>;
  readonly asked: ModelRequest;
  readonly plan: RoutePlan;
  /** The limits that the hold covers. */
  readonly granted: Granted;
  readonly call: ModelCall;
};
