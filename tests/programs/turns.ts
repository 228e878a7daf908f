// One model turn as a stream of each wire format: a text, or thinking and a tool call.
import type { UpstreamFormatName } from '../../src/terms/format-name.ts';
import { turnFormats } from '../support/answers.ts';
import type { SseFrame } from '../support/upstream.ts';

export type Wire = UpstreamFormatName;
/** `input` is text for a custom tool. */
export type ToolCall = {
  readonly name: string;
  readonly namespace?: string;
  readonly input: object | string;
  /** Left out: always the same. Gemini's format has none. */
  readonly id?: string;
};
export type Turn =
  | { readonly text: string }
  | {
      readonly call: ToolCall;
      readonly thinking: { readonly text: string; readonly signature: string };
    };

const tokens = { input: 100, output: 20 };

export function turnFrames(wire: Wire, turn: Turn): readonly SseFrame[] {
  const { frames } = turnFormats[wire];
  if ('text' in turn) return frames({ text: turn.text, thought: null, calls: [], tokens });
  const { id = 'call_1', input, ...call } = turn.call;
  const calls = [{ ...call, id, arguments: input }];
  return frames({ text: null, thought: turn.thinking, calls, tokens });
}
