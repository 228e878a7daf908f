// Turns of a scripted Responses provider; its reasoning is encrypted.
import {
  argumentsOf,
  listOf,
  pairResults,
  piecesOf,
  textOf,
  usageIn,
  type Body,
  type Cut,
  type ToolCall,
  type Turn,
  type TurnFormat,
} from './turn-format.ts';
import type { SseFrame } from './upstream.ts';

export const responsesTurns: TurnFormat = {
  readResults: (body) => {
    const items = listOf(body.input);
    const callIds = items
      .filter(({ type }) => type === 'function_call')
      .map(({ call_id: id }) => String(id));
    const results = items.filter(({ type }) => type === 'function_call_output');
    return pairResults(
      callIds,
      new Map(results.map(({ call_id: id, output }) => [String(id), textOf(output)])),
    );
  },
  toolNames: (body) => listOf(body.tools).map(({ name }) => String(name)),
  hasSchema: (body) =>
    ((body.text as Body | undefined)?.format as Body | undefined)?.type === 'json_schema',
  asksToThink: (body) => (body.reasoning as Body | undefined)?.effort !== undefined,
  proof: ({ signature }) => signature,
  whole: (turn) =>
    responseOf(
      turn,
      'completed',
      itemsOf(turn, piecesOf).map(({ item }) => item),
    ),
  frames: (turn, cut = piecesOf) => {
    const items = itemsOf(turn, cut);
    const whole = items.map(({ item }) => item);
    const events = [
      { type: 'response.created', response: responseOf(turn, 'in_progress', []) },
      { type: 'response.in_progress', response: responseOf(turn, 'in_progress', []) },
      ...items.flatMap(itemEvents),
      { type: 'response.completed', response: responseOf(turn, 'completed', whole) },
    ];
    return events.map((event, sequence): SseFrame => ({
      event: event.type,
      data: { ...event, sequence_number: sequence },
    }));
  },
  openingFrames: 4,
};

function responseOf(turn: Turn, status: string, output: readonly object[]): object {
  return {
    id: 'resp_upstream1',
    object: 'response',
    created_at: 1_790_000_000,
    status,
    error: null,
    incomplete_details: null,
    model: 'upstream-model-2026-01-01',
    store: false,
    output,
    ...(status === 'completed' && usageOf(turn)),
  };
}

function usageOf(turn: Turn): object {
  return {
    usage: null,
    ...usageIn('usage', turn, ({ prompt, cacheRead, cacheWrite, cacheWrite1h, output }) => ({
      input_tokens: prompt,
      input_tokens_details: {
        cached_tokens: cacheRead,
        cache_write_tokens: cacheWrite + cacheWrite1h,
        ...(cacheWrite1h > 0 && {
          cache_write_tokens_details: { ttl_12h_tokens: cacheWrite1h },
        }),
      },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: prompt + output,
    })),
  };
}

type StreamEvent = { readonly type: string; readonly [field: string]: unknown };
/** A finished item: its initial form, and the events between. */
type Item = {
  readonly item: Body;
  readonly start: Body;
  readonly events: (place: { item_id: unknown; output_index: number }) => StreamEvent[];
};

function itemsOf({ thought, calls, text }: Turn, cut: Cut): Item[] {
  return [
    ...(thought ? [reasoningItem(thought)] : []),
    ...(text === null ? [] : [messageItem(text, cut(text))]),
    ...calls.map(callItem),
  ];
}

function reasoningItem({ text, signature }: NonNullable<Turn['thought']>): Item {
  const start = { id: 'rs_upstream', type: 'reasoning', summary: [] };
  const part = { type: 'summary_text', text };
  return {
    item: { ...start, summary: [part], encrypted_content: signature },
    start,
    events: (place) => {
      const at = { ...place, summary_index: 0 };
      return [
        { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
        ...piecesOf(text).map((delta) => ({
          type: 'response.reasoning_summary_text.delta',
          ...at,
          delta,
        })),
        { type: 'response.reasoning_summary_text.done', ...at, text },
        { type: 'response.reasoning_summary_part.done', ...at, part },
      ];
    },
  };
}

function messageItem(text: string, pieces: readonly string[]): Item {
  const start = {
    id: 'msg_upstream1',
    type: 'message',
    role: 'assistant',
    status: 'in_progress',
    content: [],
  };
  const part = { type: 'output_text', text, annotations: [] };
  return {
    item: { ...start, status: 'completed', content: [part] },
    start,
    events: (place) => {
      const at = { ...place, content_index: 0 };
      return [
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
        { type: 'response.output_text.done', ...at, text },
        { type: 'response.content_part.done', ...at, part },
      ];
    },
  };
}

function callItem(call: ToolCall): Item {
  const isCustom = typeof call.arguments === 'string';
  const field = isCustom ? 'input' : 'arguments';
  const start = {
    id: `${isCustom ? 'ctc' : 'fc'}_${call.id}`,
    type: isCustom ? 'custom_tool_call' : 'function_call',
    status: 'in_progress',
    call_id: call.id,
    name: call.name,
    ...(call.namespace !== undefined && { namespace: call.namespace }),
    [field]: '',
  };
  const text = argumentsOf(call);
  const event = `response.${isCustom ? 'custom_tool_call_input' : 'function_call_arguments'}`;
  return {
    item: { ...start, status: 'completed', [field]: text },
    start,
    events: (place) => [
      ...piecesOf(text).map((delta) => ({ type: `${event}.delta`, ...place, delta })),
      { type: `${event}.done`, ...place, name: call.name, [field]: text },
    ],
  };
}

function itemEvents({ item, start, events }: Item, index: number): StreamEvent[] {
  return [
    { type: 'response.output_item.added', output_index: index, item: start },
    ...events({ item_id: item.id, output_index: index }),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}
