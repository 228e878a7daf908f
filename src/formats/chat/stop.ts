// Why an answer ended. Hosts add reasons of their own; what is not known counts as a plain end.
import type { Stop } from '../../canonical/event.ts';

/** What the answer holds, where the reason alone does not tell. */
type StopContent = { readonly hasToolCalls: boolean; readonly hasRefusal: boolean };

export function readStop(finishReason: unknown, { hasToolCalls, hasRefusal }: StopContent): Stop {
  return { reason: readReason(), sequence: null };

  function readReason(): Stop['reason'] {
    switch (finishReason) {
      case 'length':
      case 'max_tokens':
      case 'model_length':
        return 'length';
      case 'content_filter':
        return 'content-filter';
      case 'tool_calls':
      case 'function_call':
        return 'tool-calls';
      default:
        // Some hosts say `stop` with tool calls too.
        if (hasToolCalls) return 'tool-calls';
        return hasRefusal ? 'refusal' : 'end';
    }
  }
}

/** Reasons that mean the host broke off: such an answer is not one. `insufficient_system_resource` is DeepSeek's, `abort` vLLM's. */
export function isBrokenOff(finishReason: unknown): boolean {
  return finishReason === 'error' || finishReason === 'abort' || finishReason === 'insufficient_system_resource';
}

export function writeFinishReason({ reason }: Stop, { hasRefusal }: Pick<StopContent, 'hasRefusal'>): string {
  // OpenAI ends a refusal that it words itself with `stop`; a refusal without words is a filtered answer.
  return reason === 'refusal' && hasRefusal ? 'stop' : finishReasons[reason];
}

const finishReasons: Readonly<Record<Stop['reason'], string>> = {
  end: 'stop',
  'stop-sequence': 'stop',
  pause: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
  refusal: 'content_filter',
};
