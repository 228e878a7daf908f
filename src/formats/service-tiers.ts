// The service tier in requests and answers of each format. Messages has one beside the standard
// tier, `speed: fast`, which is `priority` elsewhere.
import { invalidRequest, type ApiError } from '../canonical/errors.ts';
import type { Usage } from '../canonical/usage.ts';
import type { JsonObject } from '../lib/json.ts';
import type { ClientRequest, UpstreamTarget } from './format.ts';

/**
 * Returns the field for Chat and Responses. OpenAI's default, `auto`, follows the operator's
 * setting there, so the standard tier is named, too. Other hosts may not know the field.
 */
export function tierField({ isOpenAi, tier }: UpstreamTarget): JsonObject {
  const named = tier ?? (isOpenAi ? 'default' : null);
  return named === null ? {} : { service_tier: named };
}

/** The refusal of a tier that the provider's format has no word for. */
export function unofferedTier(tier: string): ApiError {
  return invalidRequest(
    'service_tier',
    `service_tier \`${tier}\` is not offered by the provider of this model; leave it out`,
  );
}

/** Returns the tier that an answer shows: what the provider named, else what was asked for. */
export function shownTier(usage: Usage | null, { tier }: ClientRequest): string {
  const shown = usage?.tier ?? tier ?? 'standard';
  return shown === 'standard' ? 'default' : shown;
}

/** Returns `speed` of a usage in Messages; null: it was not asked for. */
export function shownSpeed(usage: Usage | null, request: ClientRequest): string | null {
  if (shownTier(usage, request) === 'priority') return 'fast';
  return request.tier ? 'standard' : null;
}
