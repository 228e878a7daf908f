// Why an answer ended. Gemini reports STOP for calls and for stop sequences too, and does not name
// the sequence.
import type { Stop } from '../../canonical/stop.ts';

/** Reasons for which the model broke off: what came before may be half a call, or nothing. */
const brokenReasons: readonly unknown[] = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
];

export function isBrokenOff(finishReason: unknown): finishReason is string {
  return brokenReasons.includes(finishReason);
}

/** An unknown reason counts as a normal end: the answer is there. */
export function readStop(finishReason: unknown, hasCalls: boolean): Stop {
  return {
    reason: readReason(finishReason, hasCalls),
    sequence: null,
    ...(isBrokenOff(finishReason) && { brokeOff: finishReason }),
  };
}

function readReason(finishReason: unknown, hasCalls: boolean): Stop['reason'] {
  switch (finishReason) {
    case 'MAX_TOKENS':
    // Cut off at a limit of one request; another request would continue it.
    case 'CONTINUATION':
      return 'length';
    case 'SAFETY':
    case 'RECITATION':
    case 'LANGUAGE':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'OTHER':
    case 'IMAGE_SAFETY':
    case 'IMAGE_PROHIBITED_CONTENT':
    case 'IMAGE_RECITATION':
    case 'IMAGE_OTHER':
    case 'NO_IMAGE':
    case 'ESCALATION':
    case 'PUP_LIMITED_DISABLED':
    case 'MODEL_ARMOR':
      return 'content-filter';
    default:
      return hasCalls ? 'tool-calls' : 'end';
  }
}

/** Gemini has one reason for every normal end. Clients ask again after an empty answer with `SAFETY`. */
export function writeStop({ reason }: Stop, hasRefusal: boolean): string {
  if (reason === 'length') return 'MAX_TOKENS';
  if (reason === 'content-filter') return 'SAFETY';
  return reason === 'refusal' || hasRefusal ? 'PROHIBITED_CONTENT' : 'STOP';
}
