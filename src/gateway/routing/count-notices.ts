// Tells the operator of providers whose token counts contradict each other. Tokens that only a total
// has are charged to nobody, and the provider may bill them.
import type { Usage } from '../../canonical/usage.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { dayOf } from '../../lib/utc-time.ts';
import type { RouteName } from '../calling/shared-health.ts';

/** Warns of tokens that nothing explains, at most once a day for each provider. */
export type NoteCounts = (route: RouteName, usage: Usage) => void;

export function createCountNotices(
  log: Pick<Logger, 'warn'>,
  clock: Pick<Clock, 'nowMs'>,
): NoteCounts {
  const warnedOn = new Map<string, string>();
  return ({ provider, upstreamModel }, { unexplainedTokens, ...usage }) => {
    if (!unexplainedTokens) return;
    const day = dayOf(clock.nowMs());
    if (warnedOn.get(provider) === day) return;
    warnedOn.set(provider, day);
    log.warn(
      { provider, upstream_model: upstreamModel, usage, unexplained_tokens: unexplainedTokens },
      "the provider's token counts do not add up: the unexplained tokens are not charged; compare its bill (docs/formats.md)",
    );
  };
}
