// Turns of a scripted Chat Completions provider; its reasoning is DeepSeek's `reasoning_content`.
import {
  argumentsOf,
  listOf,
  pairResults,
  piecesOf,
  textOf,
  tokensOf,
  type Body,
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
  whole: (turn) =>
    completion(
      [
        {
          index: 0,
          message: { role: 'assistant', ...messageOf(turn) },
          finish_reason: reasonOf(turn),
        },
      ],
      usageOf(turn),
    ),
  frames: (turn) => [
    chunk([{ index: 0, delta: { role: 'assistant', content: null } }]),
    ...deltasOf(turn).map((delta) => chunk([{ index: 0, delta }])),
    chunk([{ index: 0, delta: {}, finish_reason: reasonOf(turn) }]),
    chunk([], usageOf(turn)),
    'data: [DONE]\n\n',
  ],
};

function usageOf(turn: Turn): object {
  const { input, output, total } = tokensOf(turn);
  return { prompt_tokens: input, completion_tokens: output, total_tokens: total };
}

function completion(
  choices: readonly object[],
  counted: object | null,
  object = 'chat.completion',
): Body {
  return {
    id: 'chatcmpl-upstream',
    object,
    created: 1_790_000_000,
    model: 'upstream',
    choices,
    usage: counted,
  };
}

function chunk(choices: readonly object[], counted: object | null = null): SseFrame {
  return { data: completion(choices, counted, 'chat.completion.chunk') };
}

function messageOf({ thought, calls, text }: Turn): object {
  return {
    content: text,
    ...(thought && { reasoning_content: thought.text }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => ({ ...callOf(call), type: 'function' })),
    }),
  };
}

function callOf(call: ToolCall) {
  return { id: call.id, function: { name: call.name, arguments: argumentsOf(call) } };
}

function deltasOf({ thought, calls, text }: Turn): object[] {
  return [
    ...piecesOf(thought?.text ?? '').map((piece) => ({ reasoning_content: piece })),
    ...piecesOf(text ?? '').map((content) => ({ content })),
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
