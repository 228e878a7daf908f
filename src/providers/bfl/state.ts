// Reads the state of an image job at Black Forest Labs.
import type { UpstreamFailure } from '../../canonical/event.ts';
import { makeFailure } from '../../canonical/make-failure.ts';
import { isObject, objectOf } from '../../lib/json.ts';
import { refused } from '../image-answer.ts';

type State =
  | { readonly kind: 'pending' }
  /** `sample`: the image's URL, unchecked. */
  | { readonly kind: 'ready'; readonly sample: unknown }
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure };

/** Undocumented states count as pending; the timeout ends them. */
export function readState(body: unknown): State {
  if (!isObject(body) || typeof body.status !== 'string')
    return { kind: 'failed', failure: makeFailure('unreadable', 'the answer has no status') };
  const { status, result, details } = body;
  switch (status.toLowerCase()) {
    case 'ready':
      return { kind: 'ready', sample: objectOf(result).sample };
    case 'request moderated':
    case 'content moderated':
      return {
        kind: 'failed',
        failure: refused(`the provider does not draw this: ${status}${reasonsOf(details)}`),
      };
    case 'error':
    case 'failed':
    case 'task not found':
      return {
        kind: 'failed',
        failure: makeFailure(500, `the image failed with the state ${status}${reasonsOf(details)}`),
      };
    default:
      return { kind: 'pending' };
  }
}

/** `{"Moderation Reasons": ["Violence"]}` → ` (Violence)`. */
function reasonsOf(details: unknown): string {
  const values = isObject(details) ? Object.values(details).flat() : [];
  const words = values.filter((value) => typeof value === 'string');
  return words.length === 0 ? '' : ` (${words.join(', ').slice(0, 200)})`;
}
