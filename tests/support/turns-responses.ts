// Turns of a scripted Responses provider; its reasoning is encrypted.
import {
  listOf,
  pairResults,
  piecesOf,
  textOf,
  type Body,
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
      'completed',
      itemsOf(turn).map(({ item }) => item),
    ),
  frames: (turn) => {
    const items = itemsOf(turn);
    const whole = items.map(({ item }) => item);
    const events = [
      { type: 'response.created', response: responseOf('in_progress', []) },
      { type: 'response.in_progress', response: responseOf('in_progress', []) },
      ...items.flatMap(itemEvents),
      { type: 'response.completed', response: responseOf('completed', whole) },
    ];
    return events.map((event, sequence): SseFrame => ({
      event: event.type,
      data: { ...event, sequence_number: sequence },
    }));
  },
};

function responseOf(status: string, output: readonly object[]): object {
  return {
    id: 'resp_upstream',
    object: 'response',
    created_at: 1_790_000_000,
    status,
    error: null,
    incomplete_details: null,
    model: 'upstream',
    output,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage:
      status === 'completed'
        ? {
            input_tokens: 20,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens: 10,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: 30,
          }
        : null,
  };
}

type StreamEvent = { readonly type: string; readonly [field: string]: unknown };
/** A finished item: its initial form, and the events between. */
type Item = {
  readonly item: Body;
  readonly start: Body;
  readonly events: (place: { item_id: unknown; output_index: number }) => StreamEvent[];
};

function itemsOf({ thought, calls, text }: Turn): Item[] {
  return [
    ...(thought ? [reasoningItem(thought)] : []),
    ...(text === null ? [] : [messageItem(text)]),
    ...calls.map(({ id, name, arguments: input }) => callItem(id, name, JSON.stringify(input))),
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

function messageItem(text: string): Item {
  const start = {
    id: 'msg_upstream',
    type: 'message',
    role: 'assistant',
    status: 'in_progress',
    content: [],
  };
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  return {
    item: { ...start, status: 'completed', content: [part] },
    start,
    events: (place) => {
      const at = { ...place, content_index: 0 };
      return [
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        ...piecesOf(text).map((delta) => ({
          type: 'response.output_text.delta',
          ...at,
          delta,
          logprobs: [],
        })),
        { type: 'response.output_text.done', ...at, text, logprobs: [] },
        { type: 'response.content_part.done', ...at, part },
      ];
    },
  };
}

function callItem(callId: string, name: string, input: string): Item {
  const start = {
    id: `fc_${callId}`,
    type: 'function_call',
    status: 'in_progress',
    call_id: callId,
    name,
    arguments: '',
  };
  return {
    item: { ...start, status: 'completed', arguments: input },
    start,
    events: (place) => [
      ...piecesOf(input).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        ...place,
        delta,
      })),
      { type: 'response.function_call_arguments.done', ...place, name, arguments: input },
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
