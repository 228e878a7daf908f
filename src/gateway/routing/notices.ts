// Logs or remembers what requests show about providers and clients: token counts that do not add up,
// unknown request fields, and routes whose hosts refuse summaries of reasoning.
import type { Usage } from '../../canonical/usage.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { dayOf, hourMs } from '../../lib/utc-time.ts';
import { keyOfRoute, type RouteName } from '../calling/shared-health.ts';

/**
 * Warns of tokens that nothing explains, at most once a day for each provider. Those that only a total
 * has are charged to nobody, and the provider may bill them.
 */
export function createCountNotices(log: Pick<Logger, 'warn'>, clock: Pick<Clock, 'nowMs'>) {
  const warnedOn = new Map<string, string>();
  return ({ provider, upstreamModel }: RouteName, counted: Usage): void => {
    if (!counted.unexplainedTokens) return;
    const day = dayOf(clock.nowMs());
    if (warnedOn.get(provider) === day) return;
    warnedOn.set(provider, day);
    const { unexplainedTokens, ...usage } = counted;
    log.warn(
      { provider, upstream_model: upstreamModel, usage, unexplained_tokens: unexplainedTokens },
      "the provider's token counts do not add up: the unexplained tokens are not charged; compare its bill (docs/formats.md)",
    );
  };
}

/** Anything else could be a client's words, which are kept nowhere. */
const isName = (part: string): boolean => /^[\w$-]{1,64}$/.test(part);

/** Clients choose the names, so only so many are logged, and remembered, in a day. */
const namesMax = 200;

/** Logs each field once a day. */
export function createUnknownNotices(log: Pick<Logger, 'warn'>, clock: Pick<Clock, 'nowMs'>) {
  let today = '';
  const logged = new Set<string>();
  return (fields: ReadonlySet<string>): void => {
    if (fields.size === 0) return;
    const day = dayOf(clock.nowMs());
    if (day !== today) logged.clear();
    today = day;
    for (const path of fields) {
      const field = path.split('.').every(isName) ? path : 'an unusual name';
      if (logged.has(field) || logged.size >= namesMax) continue;
      logged.add(field);
      log.warn(
        { field },
        'an unknown request field was left out; `pass_fields` lets it through (docs/formats.md)',
      );
    }
  };
}

/** An organisation may be verified meanwhile. */
const memoryMs = hourMs;
const routesMax = 1_000;

/** Remembers the routes whose hosts refuse summaries of reasoning. */
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
