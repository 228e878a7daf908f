// The size of an answer on the straight path: what the model wrote. Results of tools that Anthropic runs are not output.
import type { OutputMeter } from '../../canonical/output-bytes.ts';
import { isObject } from '../../lib/json.ts';
import { asText } from './read-answer.ts';

/** A whole block. */
export function meterBlock(meter: OutputMeter, block: unknown): void {
  if (!isObject(block)) return;
  if (block.type === 'tool_use' || block.type === 'server_tool_use') meter.addText(JSON.stringify(block.input ?? {}));
  else meterBlockStart(meter, block);
}

/** The input of a call that a block's start brings whole, as some hosts send it, in JSON; '' where deltas bring it. */
export function wholeInputOf(block: unknown): string {
  if (!isObject(block) || block.type !== 'tool_use') return '';
  return isObject(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : '';
}

/** Redacted thinking arrives whole in its start, where some hosts put a text as well. A call's input is metered at its end. */
export function meterBlockStart(meter: OutputMeter, block: unknown): void {
  if (!isObject(block)) return;
  if (block.type === 'text') meter.addText(asText(block.text));
  else if (block.type === 'redacted_thinking') meter.addSealed(asText(block.data));
  else if (block.type === 'thinking') {
    meter.addReasoning(asText(block.thinking));
    meter.addSealed(asText(block.signature));
  }
}

export function meterDelta(meter: OutputMeter, delta: unknown): void {
  if (!isObject(delta)) return;
  meter.addText(asText(delta.text ?? delta.partial_json));
  meter.addReasoning(asText(delta.thinking));
  meter.addSealed(asText(delta.signature));
}
