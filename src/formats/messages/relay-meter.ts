// Measures an answer on the straight path. Counts what the model wrote, not the results of tools
// that Anthropic runs.
import type { OutputMeter } from '../../canonical/output-bytes.ts';
import { isObject, textOf } from '../../lib/json.ts';

/** Adds a whole block. */
export function meterBlock(meter: OutputMeter, block: unknown): void {
  if (!isObject(block)) return;
  if (block.type === 'tool_use' || block.type === 'server_tool_use')
    meter.addText(JSON.stringify(block.input ?? {}));
  else meterBlockStart(meter, block);
}

/**
 * Returns, as JSON, a call's input that arrives whole in the block's start, as some hosts send it;
 * '' when deltas bring it.
 */
export function wholeInputOf(block: unknown): string {
  if (!isObject(block) || block.type !== 'tool_use') return '';
  return isObject(block.input) && Object.keys(block.input).length > 0
    ? JSON.stringify(block.input)
    : '';
}

/**
 * Redacted thinking arrives whole in its start; some hosts send text there too. A call's input is
 * counted at its end.
 */
export function meterBlockStart(meter: OutputMeter, block: unknown): void {
  if (!isObject(block)) return;
  if (block.type === 'text') meter.addText(textOf(block.text));
  else if (block.type === 'redacted_thinking') meter.addSealed(textOf(block.data));
  else if (block.type === 'thinking') {
    meter.addReasoning(textOf(block.thinking));
    meter.addSealed(textOf(block.signature));
  }
}

export function meterDelta(meter: OutputMeter, delta: unknown): void {
  if (!isObject(delta)) return;
  meter.addText(textOf(delta.text ?? delta.partial_json));
  meter.addReasoning(textOf(delta.thinking));
  meter.addSealed(textOf(delta.signature));
}
