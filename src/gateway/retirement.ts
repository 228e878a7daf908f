// Tells clients that a model ends, or has ended: https://www.rfc-editor.org/rfc/rfc9745 (Deprecation) and
// https://www.rfc-editor.org/rfc/rfc8594 (Sunset), and what to use in its place:
// https://www.rfc-editor.org/rfc/rfc5829 (successor-version).
import { ApiError } from '../canonical/errors.ts';
import type { Retirement } from '../terms/retirement.ts';
import type { Headers } from './client.ts';

const none: Headers = {};

/** The headers of every answer of a model; none when no end is announced. */
export function retirementHeaders(retirement: Retirement | null): Headers {
  if (retirement === null) return none;
  const { deprecatedAtMs, retiresAtMs, url, successor } = retirement;
  const relations = [
    ...(deprecatedAtMs === null ? [] : ['deprecation']),
    ...(retiresAtMs === null ? [] : ['sunset']),
  ];
  const links = [
    ...(url === null ? [] : relations).map((name) => `<${url}>; rel="${name}"; type="text/html"`),
    ...(successor === null ? [] : [`</v1/models/${successor}>; rel="successor-version"`]),
  ];
  return {
    ...(deprecatedAtMs !== null && { deprecation: `@${Math.floor(deprecatedAtMs / 1_000)}` }),
    ...(retiresAtMs !== null && { sunset: new Date(retiresAtMs).toUTCString() }),
    ...(links.length > 0 && { link: links.join(', ') }),
  };
}

export type EndingModel = { readonly id: string; readonly retirement: Retirement | null };

/** The error of a model that is sold no more, or that its providers refuse after its last day. */
export function modelEnded({ id, retirement }: EndingModel): ApiError {
  const successor = retirement?.successor ?? null;
  const remedy = successor === null ? 'GET /v1/models lists what there is.' : `Use '${successor}'.`;
  return new ApiError('model_not_found', `The model '${id}' has ended. ${remedy}`, {
    param: 'model',
  });
}
