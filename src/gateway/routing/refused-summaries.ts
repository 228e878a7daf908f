// Remembers the routes whose hosts refuse summaries of reasoning.
import type { Clock } from '../../lib/clock.ts';
import { keyOfRoute, type RouteName } from '../calling/shared-health.ts';

/** An organisation may be verified meanwhile. */
const memoryMs = 60 * 60_000;
const routesMax = 1_000;

export class RefusedSummaries {
  readonly #clock: Clock;
  readonly #untilMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(route: RouteName): void {
    if (this.#untilMs.size >= routesMax) this.#untilMs.clear();
    this.#untilMs.set(keyOfRoute(route), this.#clock.elapsedMs() + memoryMs);
  }

  has(route: RouteName): boolean {
    return (this.#untilMs.get(keyOfRoute(route)) ?? 0) > this.#clock.elapsedMs();
  }
}
