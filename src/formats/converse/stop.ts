// Why an answer ended. A guardrail of the operator's account intervenes also when it only masks words.
import type { Stop } from '../../canonical/stop.ts';
import { isObject } from '../../lib/json.ts';

/** The model broke off: what came before may be half a call. */
export function isBrokenOff(stopReason: unknown): stopReason is string {
  return stopReason === 'malformed_model_output' || stopReason === 'malformed_tool_use';
}

/** `trace`: what the guardrail did; undefined: not told. An unknown reason counts as a normal end. */
export function readStop(stopReason: unknown, trace: unknown): Stop {
  return { reason: readReason(stopReason, trace), sequence: null };
}

function readReason(stopReason: unknown, trace: unknown): Stop['reason'] {
  switch (stopReason) {
    case 'tool_use':
      return 'tool-calls';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'stop_sequence':
      return 'stop-sequence';
    case 'content_filtered':
      return 'content-filter';
    case 'guardrail_intervened':
      return hasOnlyMasked(trace) ? 'end' : 'content-filter';
    default:
      return 'end';
  }
}

/** A masked answer is whole; without a trace, the guardrail is believed to have blocked it. */
function hasOnlyMasked(trace: unknown): boolean {
  if (!isObject(trace)) return false;
  const text = JSON.stringify(trace);
  return /"action":"ANONYMIZED"|Guardrail masked/.test(text) && !/"action":"BLOCKED"/.test(text);
}
