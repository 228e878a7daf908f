// The announced end of a model, from its entry in the configuration or the built-in catalogue.
import type { Retirement } from '../../terms/retirement.ts';
import { configFault } from '../../config/config-fault.ts';
import type { RetirementFields } from '../../config/shared-model-fields.ts';
import type { Config } from '../../config/schema.ts';
import { parseUtcDay, parseZonedTime } from '../../lib/iso-time.ts';

type EntryPath = readonly [section: 'models' | 'image_models', id: string];

/**
 * Returns null when no end is announced. Throws ConfigError for a day that does not exist, and for
 * an end before the deprecation, which RFC 9745 forbids.
 */
export function readRetirement(
  config: Config,
  place: EntryPath,
  {
    deprecated_at: deprecatedAt,
    retires_at: retiresAt,
    deprecation_url: url,
    successor,
    ended: isEnded = false,
  }: RetirementFields,
): Retirement | null {
  if ((deprecatedAt ?? retiresAt ?? successor) === undefined && !isEnded) return null;
  const deprecatedAtMs = timeOf(config, [...place, 'deprecated_at'], deprecatedAt);
  const retiresAtMs = timeOf(config, [...place, 'retires_at'], retiresAt);
  if (deprecatedAtMs !== null && retiresAtMs !== null && retiresAtMs < deprecatedAtMs)
    throw configFault(config, [...place, 'retires_at'], {
      problem: `is before \`deprecated_at\` (${deprecatedAt}); got ${retiresAt}`,
      remedy: 'A model is deprecated first. Correct one of the two.',
    });
  return { deprecatedAtMs, retiresAtMs, url: url ?? null, successor: successor ?? null, isEnded };
}

type Successive = { readonly id: string; readonly retirement: Retirement | null };

/** Throws ConfigError for a successor that is no other model of these. */
export function checkSuccessors(
  config: Config,
  section: EntryPath[0],
  models: readonly Successive[],
): void {
  const ids = new Set(models.map(({ id }) => id));
  for (const { id, retirement } of models) {
    const successor = retirement?.successor ?? null;
    if (successor === null || (ids.has(successor) && successor !== id)) continue;
    throw configFault(config, [section, id, 'successor'], {
      problem: `must be the id of another model under ${section}; got ${JSON.stringify(successor)}`,
      remedy: '`tollgate models list` shows the ids.',
    });
  }
}

function timeOf(config: Config, path: string[], text: string | undefined): number | null {
  if (text === undefined) return null;
  const timeMs = parseUtcDay(text) ?? parseZonedTime(text);
  if (timeMs !== null) return timeMs;
  throw configFault(config, path, {
    problem: `is no day of the calendar; got ${text}`,
    remedy: 'Write a day like `2026-12-01`, or a time like `2026-12-01T16:00Z`.',
  });
}
