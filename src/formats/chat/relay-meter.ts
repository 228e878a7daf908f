// Measures an answer on the straight path by its messages or deltas.
import type { OutputMeter } from '../../canonical/output-bytes.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { readText, readThinkingInContent } from './content.ts';
import { readImages } from './images.ts';
import { readReasoningText } from './reasoning.ts';

/** Adds the size of a message or delta. */
export function meterMessage(meter: OutputMeter, message: JsonObject): void {
  const { content, refusal, tool_calls: toolCalls, function_call: legacyCall } = message;
  meter.addText(readText(content));
  meter.addReasoning(readThinkingInContent(content));
  meter.addText(readText(refusal));
  meterReasoning(meter, message);
  if (message.images) meter.addImages(readImages(message).length);
  if (Array.isArray(toolCalls)) for (const call of toolCalls) meterCall(meter, call);
  if (isObject(legacyCall)) meter.addText(readText(legacyCall.arguments));
}

/** Details repeat the plain text, if there is any. */
function meterReasoning(meter: OutputMeter, message: JsonObject): void {
  const text = readReasoningText(message);
  meter.addReasoning(text);
  if (!Array.isArray(message.reasoning_details)) return;
  for (const detail of message.reasoning_details) {
    if (!isObject(detail)) continue;
    if (text === '') meter.addReasoning(readText(detail.text) || readText(detail.summary));
    meter.addSealed(readText(detail.data));
    meter.addSealed(readText(detail.signature));
  }
}

function meterCall(meter: OutputMeter, call: unknown): void {
  if (!isObject(call)) return;
  if (isObject(call.custom)) meter.addText(readText(call.custom.input));
  else if (isObject(call.function)) {
    const { arguments: text } = call.function;
    meter.addText(isObject(text) ? JSON.stringify(text) : readText(text));
  }
}
