// Why an answer ended. Responses has a status and, for `incomplete`, a reason. Only the output
// shows calls and refusals.
import type { Stop } from '../../canonical/stop.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';

export type EndStatus = {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: JsonObject | null;
};

/** A refusal without text would look like a success, so it is reported as filtered. */
export function writeStop(stop: Stop, hasRefusal: boolean): EndStatus {
  switch (stop.reason) {
    case 'length':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    case 'content-filter':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
    case 'refusal':
      return hasRefusal
        ? completed
        : { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
    case 'end':
    case 'stop-sequence':
    case 'tool-calls':
    case 'pause':
      return completed;
  }
}

const completed: EndStatus = { status: 'completed', incomplete_details: null };

/** `response`: one that has ended. `has`: what its output contains. */
export function readStop(
  response: JsonObject,
  has: { readonly calls: boolean; readonly refusal: boolean },
): Stop {
  return { reason: readReason(response, has), sequence: null, ...readWithheld(response) };
}

/** OpenAI's reasons for not showing the model the reasoning of earlier turns: `model_mismatch`. */
function readWithheld({ input_transformations: changes }: JsonObject): Pick<Stop, 'withheld'> {
  const reasons = Array.isArray(changes)
    ? changes.slice(0, 100).map((change) => (isObject(change) ? String(change.reason) : ''))
    : [];
  const known = new Set(reasons.filter((reason) => /^[a-z_]{1,40}$/.test(reason)));
  return known.size === 0 ? {} : { withheld: [...known].join(' ') };
}

function readReason(
  response: JsonObject,
  has: { readonly calls: boolean; readonly refusal: boolean },
): Stop['reason'] {
  if (response.status === 'incomplete') {
    const details = response.incomplete_details;
    // Other reasons (`max_messages`, `steered`) cut an answer short too.
    return isObject(details) && details.reason === 'content_filter' ? 'content-filter' : 'length';
  }
  if (has.calls) return 'tool-calls';
  return has.refusal ? 'refusal' : 'end';
}
