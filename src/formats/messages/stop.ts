import type { Stop } from '../../canonical/stop.ts';
import { type JsonObject, listOf } from '../../lib/json.ts';

/** An unknown reason counts as a normal end: the answer is there. */
export function readStop(reason: unknown, sequence: unknown): Stop {
  return { reason: readReason(reason), sequence: typeof sequence === 'string' ? sequence : null };
}

function readReason(reason: unknown): Stop['reason'] {
  switch (reason) {
    case 'stop_sequence':
      return 'stop-sequence';
    case 'tool_use':
      return 'tool-calls';
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'refusal';
    case 'pause_turn':
      return 'pause';
    default:
      return 'end';
  }
}

/**
 * Returns a stop reason of the upstream as clients need it, who run calls behind `tool_use` alone:
 * some hosts end an answer with calls as any other. `hasCalls`: calls that wait for the client.
 */
export function repairReason(reason: unknown, hasCalls: boolean): unknown {
  return hasCalls && plainEnds.has(reason) ? 'tool_use' : reason;
}

const plainEnds: ReadonlySet<unknown> = new Set(['end_turn', 'stop', null, undefined]);

/** Returns true when a refusal or the output limit ended the answer, possibly before any output. */
export function isCutShort(reason: unknown): boolean {
  const read = readReason(reason);
  return read === 'refusal' || read === 'length';
}

type WrittenStop = {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  /** Anthropic's classes of refusals. No other vendor has them. */
  readonly stop_details: null;
};

/**
 * Messages has no refusal block: a refusal is text, so the stop reason must mark it. `body`: the
 * request, whose stop sequences alone are told.
 */
export function writeStop(stop: Stop, hasRefusal: boolean, body: JsonObject): WrittenStop {
  const { sequence } = stop;
  const isAsked = sequence === null || listOf(body.stop_sequences).includes(sequence);
  const known = isAsked ? stop.reason : 'end';
  const reason = hasRefusal && known === 'end' ? 'refusal' : known;
  return {
    stop_reason: writtenReasons[reason],
    stop_sequence: isAsked ? sequence : null,
    stop_details: null,
  };
}

const writtenReasons: Readonly<Record<Stop['reason'], string>> = {
  end: 'end_turn',
  'stop-sequence': 'stop_sequence',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
  refusal: 'refusal',
  pause: 'pause_turn',
};
