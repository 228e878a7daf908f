// Tells the operator of providers whose token counts contradict each other. Tokens that only a total
// has are charged to nobody, and the provider may bill them.
import type { Usage } from '../../canonical/usage.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { dayOf } from '../../lib/utc-time.ts';
import type { RouteName } from './health.ts';

export class CountNotices {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #clock: Pick<Clock, 'nowMs'>;
  /** The day of the last warning, by provider. */
  readonly #warnedOn = new Map<string, string>();

  constructor({ log, clock }: { readonly log: Pick<Logger, 'warn'>; readonly clock: Clock }) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Warns of tokens that nothing explains, at most once a day for each provider. */
  note({ provider, upstreamModel }: RouteName, { unexplainedTokens, ...usage }: Usage): void {
    const day = dayOf(this.#clock.nowMs());
    if (!unexplainedTokens || this.#warnedOn.get(provider) === day) return;
    this.#warnedOn.set(provider, day);
    this.#log.warn(
      { provider, upstream_model: upstreamModel, usage, unexplained_tokens: unexplainedTokens },
      "the provider's token counts do not add up: the unexplained tokens are not charged; compare its bill (docs/formats.md)",
    );
  }
}
