// Tells clients that a model ends: https://www.rfc-editor.org/rfc/rfc9745 (Deprecation) and
// https://www.rfc-editor.org/rfc/rfc8594 (Sunset).
import type { Retirement } from '../terms/retirement.ts';
import type { Headers } from './client.ts';

const none: Headers = {};

/** The headers of every answer of a model; none when no end is announced. */
export function retirementHeaders(retirement: Retirement | null): Headers {
  if (retirement === null) return none;
  const { deprecatedAtMs, retiresAtMs, url } = retirement;
  const links = [
    ...(deprecatedAtMs === null ? [] : ['deprecation']),
    ...(retiresAtMs === null ? [] : ['sunset']),
  ].map((relation) => `<${url}>; rel="${relation}"; type="text/html"`);
  return {
    ...(deprecatedAtMs !== null && { deprecation: `@${Math.floor(deprecatedAtMs / 1_000)}` }),
    ...(retiresAtMs !== null && { sunset: new Date(retiresAtMs).toUTCString() }),
    ...(url !== null && { link: links.join(', ') }),
  };
}
