// Why an answer ended. Hosts add their own reasons; an unknown one counts as a normal end.
import type { Stop } from '../../canonical/event.ts';

/** What the answer contains, because the reason alone is ambiguous. */
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
        // Some hosts report `stop` with tool calls too.
        if (hasToolCalls) return 'tool-calls';
        return hasRefusal ? 'refusal' : 'end';
    }
  }
}

/** Returns true when a filter or the output limit ended the answer, possibly before any output. */
export function isCutShort(finishReason: unknown): boolean {
  const { reason } = readStop(finishReason, { hasToolCalls: false, hasRefusal: false });
  return reason === 'content-filter' || reason === 'length';
}

/**
 * Returns true when the host broke off: the answer is not usable. `insufficient_system_resource` is
 * DeepSeek's, `abort` vLLM's.
 */
export function isBrokenOff(finishReason: unknown): boolean {
  return (
    finishReason === 'error' ||
    finishReason === 'abort' ||
    finishReason === 'insufficient_system_resource'
  );
}

export function writeFinishReason(
  { reason }: Stop,
  { hasRefusal }: Pick<StopContent, 'hasRefusal'>,
): string {
  // OpenAI ends a refusal with text with `stop`. A refusal without text is a filtered answer.
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
