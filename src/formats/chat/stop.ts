// Why an answer ended. Hosts add their own reasons; an unknown one counts as a normal end.
import type { Stop } from '../../canonical/stop.ts';
import { type JsonObject, textOf } from '../../lib/json.ts';

/** What the answer contains, because the reason alone is ambiguous. */
type StopContent = { readonly hasToolCalls: boolean; readonly hasRefusal: boolean };

/** `sequence`: the stop sequence that was met, if the host names it. */
export function readStop(
  finishReason: unknown,
  { hasToolCalls, hasRefusal }: StopContent,
  sequence: string | null = null,
): Stop {
  const read = readReason();
  return sequence !== null && read === 'end'
    ? { reason: 'stop-sequence', sequence }
    : { reason: read, sequence: null };

  function readReason(): Stop['reason'] {
    const reason = lowerCase(finishReason);
    if (filters.has(reason)) return 'content-filter';
    switch (reason) {
      case 'length':
      case 'max_tokens':
      case 'max_output_tokens':
      case 'model_length':
      case 'model_context_window_exceeded':
        return 'length';
      case 'refusal':
        return 'refusal';
      default:
        // Only the answer tells whether there are calls: some hosts report `stop` with them, and
        // `tool_calls` without any, on which an agent would wait for a call.
        if (hasToolCalls) return 'tool-calls';
        return hasRefusal ? 'refusal' : 'end';
    }
  }
}

/** OpenAI's, then Bedrock's and Zhipu's, and Google's, which layers over Gemini pass on. */
const filters: ReadonlySet<unknown> = new Set(
  (
    'content_filter content_filtered guardrail_intervened sensitive ' +
    'safety recitation prohibited_content blocklist spii image_safety language'
  ).split(' '),
);

/** Returns null for no reason, for which some hosts write '' or "null". */
export function readFinishReason(value: unknown): string | null {
  return typeof value === 'string' && !/^(?:null|none)?$/i.test(value) ? value : null;
}

/** vLLM and SGLang name it, or the number of a token (github.com/vllm-project/vllm/pull/45807, read 2026-12-01). */
export function readStopSequence({ stop_reason, matched_stop }: JsonObject): string | null {
  return textOf(stop_reason) || textOf(matched_stop) || null;
}

function lowerCase(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

/** Returns true when a filter or the output limit ended the answer, possibly before any output. */
export function isCutShort(finishReason: unknown): boolean {
  const { reason } = readStop(finishReason, { hasToolCalls: false, hasRefusal: false });
  return reason === 'content-filter' || reason === 'length' || reason === 'refusal';
}

/**
 * Returns the reason when the host broke off, so that the answer is not usable; else null.
 * `insufficient_system_resource` is DeepSeek's, `abort` vLLM's, `network_error` Zhipu's, the last
 * three Gemini's. OpenRouter
 * may hide it behind `stop`: then only an answer without a word is broken.
 */
export function readBreak(choice: JsonObject, hasWords: boolean): string | null {
  const { finish_reason: reason, native_finish_reason: native } = choice;
  if (isBreak(reason)) return String(reason);
  return !hasWords && isBreak(native) ? String(native) : null;
}

function isBreak(reason: unknown): boolean {
  return typeof reason === 'string' && breaks.has(reason.toLowerCase());
}

const breaks: ReadonlySet<string> = new Set(
  (
    'error abort insufficient_system_resource network_error ' +
    'malformed_function_call unexpected_tool_call malformed_response'
  ).split(' '),
);

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
