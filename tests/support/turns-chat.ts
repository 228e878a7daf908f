// Turns of a scripted Chat Completions provider; its reasoning is DeepSeek's `reasoning_content`.
import {
  argumentsOf,
  listOf,
  pairResults,
  piecesOf,
  textOf,
  usageIn,
  type Cut,
  type ToolCall,
  type Turn,
  type TurnFormat,
} from './turn-format.ts';
import type { SseFrame } from './upstream.ts';

export const chatTurns: TurnFormat = {
  readResults: (body) => {
    const messages = listOf(body.messages);
    const callIds = messages.flatMap((message) =>
      listOf(message.tool_calls).map(({ id }) => String(id)),
    );
    const results = messages.filter(({ role }) => role === 'tool');
    return pairResults(
      callIds,
      new Map(results.map(({ tool_call_id: id, content }) => [String(id), textOf(content)])),
    );
  },
  toolNames: (body) =>
    listOf(body.tools).map((tool) => ((tool.function ?? tool.custom) as { name: string }).name),
  hasSchema: (body) =>
    (body.response_format as { type?: string } | undefined)?.type === 'json_schema',
  asksToThink: (body) => body.reasoning_effort !== undefined,
  proof: ({ text }) => text,
  whole: (turn) => ({
    ...headOf('chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', ...messageOf(turn) },
        logprobs: null,
        finish_reason: reasonOf(turn),
      },
    ],
    ...usageOf(turn),
  }),
  frames: (turn, cut = piecesOf) => [
    deltaFrame({ role: 'assistant', content: turn.text === null ? null : '' }),
    ...deltasOf(turn, cut).map((delta) => deltaFrame(delta)),
    deltaFrame({}, reasonOf(turn)),
    ...(turn.tokens === null ? [] : [frame([], usageOf(turn))]),
    'data: [DONE]\n\n',
  ],
  openingFrames: 1,
};

function usageOf(turn: Turn): object {
  return usageIn(
    'usage',
    turn,
    ({ prompt, cacheRead, cacheWrite, cacheWrite1h, audio, output }) => ({
      prompt_tokens: prompt,
      completion_tokens: output,
      total_tokens: prompt + output,
      prompt_tokens_details: {
        cached_tokens: cacheRead,
        cache_write_tokens: cacheWrite + cacheWrite1h,
        ...(audio > 0 && { audio_tokens: audio }),
      },
    }),
  );
}

function headOf(object: string): object {
  return {
    id: 'chatcmpl-upstream1',
    object,
    created: 1_790_000_000,
    model: 'upstream-model-2026-01-01',
  };
}

function deltaFrame(delta: object, finishReason: string | null = null): SseFrame {
  return frame([{ index: 0, delta, finish_reason: finishReason }]);
}

function frame(choices: readonly object[], usage: object = { usage: null }): SseFrame {
  return { data: { ...headOf('chat.completion.chunk'), choices, ...usage } };
}

function messageOf({ thought, calls, text }: Turn): object {
  return {
    content: text,
    refusal: null,
    ...(thought && { reasoning_content: thought.text }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => ({ ...callOf(call), type: 'function' })),
    }),
  };
}

function callOf(call: ToolCall) {
  return { id: call.id, function: { name: call.name, arguments: argumentsOf(call) } };
}

function deltasOf({ thought, calls, text }: Turn, cut: Cut): object[] {
  return [
    ...piecesOf(thought?.text ?? '').map((piece) => ({ reasoning_content: piece })),
    ...cut(text ?? '').map((content) => ({ content })),
    ...calls.flatMap((call, index) => callDeltas(call, index)),
  ];
}

function callDeltas(call: ToolCall, index: number): object[] {
  const { id, name } = call;
  return [
    { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
    ...piecesOf(argumentsOf(call)).map((piece) => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  ];
}

function reasonOf({ calls }: Turn): string {
  return calls.length > 0 ? 'tool_calls' : 'stop';
}
