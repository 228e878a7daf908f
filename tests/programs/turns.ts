// One model turn as a stream of each wire format: a text, or thinking and a tool call.
import type { UpstreamFormatName } from '../../src/terms/format-name.ts';
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

export function turnFrames(wire: Wire, turn: Turn): readonly SseFrame[] {
  return wires[wire](turn);
}

const wires: Readonly<Record<Wire, (turn: Turn) => SseFrame[]>> = {
  responses: responseFrames,
  chat: chatFrames,
  messages: messageFrames,
  gemini: geminiFrames,
  converse: converseFrames,
};

const usage = { input_tokens: 100, output_tokens: 20 };

function argumentsOf({ input }: ToolCall): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

/** In pieces of a few characters, as models write. */
function piecesOf(text: string): string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}

function responseFrames(turn: Turn): SseFrame[] {
  let sequence = 0;
  const frame = (type: string, fields: object): SseFrame => ({
    event: type,
    data: { type, sequence_number: sequence++, ...fields },
  });
  const head = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'upstream',
    error: null,
    incomplete_details: null,
  };
  const items =
    'text' in turn ? [messageItem(turn.text)] : [reasoningItem(turn.thinking), callItem(turn.call)];
  return [
    frame('response.created', { response: { ...head, status: 'in_progress', output: [] } }),
    ...items.flatMap(({ announced, deltas, whole }, index) => [
      frame('response.output_item.added', { output_index: index, item: announced }),
      ...deltas.map(({ type, ...fields }) =>
        frame(type, { item_id: whole.id, output_index: index, ...fields }),
      ),
      frame('response.output_item.done', { output_index: index, item: whole }),
    ]),
    frame('response.completed', {
      response: {
        ...head,
        status: 'completed',
        output: items.map(({ whole }) => whole),
        usage: { ...usage, total_tokens: 120 },
      },
    }),
  ];
}

function messageItem(text: string) {
  const base = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' };
  const part = { type: 'output_text', text: '', annotations: [] };
  return {
    announced: { ...base, content: [] },
    whole: { ...base, content: [{ ...part, text }] },
    deltas: [
      { type: 'response.content_part.added', content_index: 0, part },
      ...piecesOf(text).map((delta) => ({
        type: 'response.output_text.delta',
        content_index: 0,
        delta,
      })),
    ],
  };
}

function reasoningItem({ text, signature }: { text: string; signature: string }) {
  const announced = { id: 'rs_1', type: 'reasoning', summary: [] };
  const part = { type: 'summary_text', text };
  return {
    announced,
    whole: { ...announced, summary: [part], encrypted_content: signature },
    deltas: [
      {
        type: 'response.reasoning_summary_part.added',
        summary_index: 0,
        part: { ...part, text: '' },
      },
      { type: 'response.reasoning_summary_text.delta', summary_index: 0, delta: text },
      { type: 'response.reasoning_summary_text.done', summary_index: 0, text },
      { type: 'response.reasoning_summary_part.done', summary_index: 0, part },
    ],
  };
}

function callItem(call: ToolCall) {
  const { name, namespace } = call;
  const isCustom = typeof call.input === 'string';
  const [type, field, event] = isCustom
    ? ['custom_tool_call', 'input', 'custom_tool_call_input']
    : ['function_call', 'arguments', 'function_call_arguments'];
  const announced = {
    id: isCustom ? 'ctc_1' : 'fc_1',
    type,
    name,
    ...(namespace && { namespace }),
    call_id: call.id ?? 'call_1',
    [field]: '',
  };
  const text = argumentsOf(call);
  return {
    announced,
    whole: { ...announced, [field]: text, status: 'completed' },
    deltas: piecesOf(text).map((delta) => ({ type: `response.${event}.delta`, delta })),
  };
}

function chatFrames(turn: Turn): SseFrame[] {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'upstream' };
  const frame = (delta: object, finishReason: string | null = null): SseFrame => ({
    data: { ...head, choices: [{ index: 0, delta, finish_reason: finishReason }] },
  });
  const call = (fields: object) => frame({ tool_calls: [{ index: 0, ...fields }] });
  const deltas =
    'text' in turn
      ? piecesOf(turn.text).map((content) => frame({ content }))
      : [
          frame({ reasoning_content: turn.thinking.text }),
          call({
            id: turn.call.id ?? 'call_1',
            type: 'function',
            function: { name: turn.call.name, arguments: '' },
          }),
          ...piecesOf(argumentsOf(turn.call)).map((piece) =>
            call({ function: { arguments: piece } }),
          ),
        ];
  return [
    frame({ role: 'assistant', content: '' }),
    ...deltas,
    frame({}, 'text' in turn ? 'stop' : 'tool_calls'),
    {
      data: {
        ...head,
        choices: [],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      },
    },
    'data: [DONE]\n\n',
  ];
}

function messageFrames(turn: Turn): SseFrame[] {
  const frame = (type: string, fields: object = {}): SseFrame => ({
    event: type,
    data: { type, ...fields },
  });
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'upstream',
    content: [],
    stop_reason: null,
    usage,
  };
  const blocks =
    'text' in turn ? [textBlock(turn.text)] : [thinkingBlock(turn.thinking), toolBlock(turn.call)];
  return [
    frame('message_start', { message }),
    ...blocks.flatMap(({ start, deltas }, index) => [
      frame('content_block_start', { index, content_block: start }),
      ...deltas.map((delta) => frame('content_block_delta', { index, delta })),
      frame('content_block_stop', { index }),
    ]),
    frame('message_delta', {
      delta: { stop_reason: 'text' in turn ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    frame('message_stop'),
  ];
}

type Block = { readonly start: object; readonly deltas: readonly object[] };

function textBlock(text: string): Block {
  return {
    start: { type: 'text', text: '' },
    deltas: piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
  };
}

function thinkingBlock({ text, signature }: { text: string; signature: string }): Block {
  return {
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      { type: 'thinking_delta', thinking: text },
      { type: 'signature_delta', signature },
    ],
  };
}

function toolBlock(call: ToolCall): Block {
  return {
    start: { type: 'tool_use', id: call.id ?? 'toolu_1', name: call.name, input: {} },
    deltas: piecesOf(argumentsOf(call)).map((piece) => ({
      type: 'input_json_delta',
      partial_json: piece,
    })),
  };
}

function geminiFrames(turn: Turn): SseFrame[] {
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
  const frame = (parts: object[], fields: object = {}): SseFrame => ({
    data: {
      candidates: [{ index: 0, content: { role: 'model', parts }, ...fields }],
      usageMetadata,
    },
  });
  const parts =
    'text' in turn
      ? [frame([{ text: turn.text }])]
      : [
          frame([{ text: turn.thinking.text, thought: true }]),
          frame([
            {
              functionCall: { name: turn.call.name, args: turn.call.input },
              thoughtSignature: turn.thinking.signature,
            },
          ]),
        ];
  return [...parts, frame([], { finishReason: 'STOP' })];
}

function converseFrames(turn: Turn): SseFrame[] {
  const blocks =
    'text' in turn
      ? [piecesOf(turn.text).map((text) => ({ text }))]
      : [
          [
            { reasoningContent: { text: turn.thinking.text } },
            { reasoningContent: { signature: turn.thinking.signature } },
          ],
          piecesOf(argumentsOf(turn.call)).map((input) => ({ toolUse: { input } })),
        ];
  // Only a call has a start.
  const start = 'call' in turn && {
    toolUse: { toolUseId: turn.call.id ?? 'tooluse_1', name: turn.call.name },
  };
  return [
    { event: 'messageStart', data: { role: 'assistant' } },
    ...blocks.flatMap((deltas, contentBlockIndex) => [
      ...(start && contentBlockIndex === 1
        ? [{ event: 'contentBlockStart', data: { contentBlockIndex, start } }]
        : []),
      ...deltas.map((delta) => ({
        event: 'contentBlockDelta',
        data: { contentBlockIndex, delta },
      })),
      { event: 'contentBlockStop', data: { contentBlockIndex } },
    ]),
    { event: 'messageStop', data: { stopReason: 'text' in turn ? 'end_turn' : 'tool_use' } },
    {
      event: 'metadata',
      data: { usage: { inputTokens: 100, outputTokens: 20, totalTokens: 120 } },
    },
  ];
}
