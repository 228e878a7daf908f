// Turns of a scripted Messages provider; its thinking is signed.
import {
  listOf,
  pairResults,
  piecesOf,
  textOf,
  usageIn,
  type Body,
  type Cut,
  type Tokens,
  type Turn,
  type TurnFormat,
} from './turn-format.ts';
import type { SseFrame } from './upstream.ts';

export const messagesTurns: TurnFormat = {
  readResults: (body) => {
    const blocks = listOf(body.messages).flatMap(({ content }) => listOf(content));
    const callIds = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id));
    const results = blocks.filter(({ type }) => type === 'tool_result');
    return pairResults(
      callIds,
      new Map(results.map(({ tool_use_id: id, content }) => [String(id), textOf(content)])),
    );
  },
  toolNames: (body) => listOf(body.tools).map(({ name }) => String(name)),
  hasSchema: (body) => (body.output_config as Body | undefined)?.format !== undefined,
  asksToThink: (body) =>
    ['enabled', 'adaptive'].includes(String((body.thinking as Body | undefined)?.type)),
  proof: ({ signature }) => signature,
  whole: (turn) => ({
    ...head,
    content: blocksOf(turn, piecesOf).map(({ whole }) => whole),
    stop_reason: reasonOf(turn),
    ...usageOf(turn),
  }),
  frames: (turn, cut = piecesOf) => [
    frame('message_start', { message: { ...head, ...usageOf(turn, { output: 1 }) } }),
    ...blocksOf(turn, cut).flatMap(blockFrames),
    frame('message_delta', {
      delta: { stop_reason: reasonOf(turn), stop_sequence: null },
      ...usageIn('usage', turn, ({ output }) => ({ output_tokens: output })),
    }),
    frame('message_stop', {}),
  ],
  openingFrames: 3,
};

const head = {
  id: 'msg_upstream1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-model-2026-01-01',
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

function usageOf(turn: Turn, soFar: Partial<Tokens> = {}): object {
  return usageIn(
    'usage',
    turn,
    ({ input, cacheRead, cacheWrite, cacheWrite1h, output }) => ({
      input_tokens: input,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWrite + cacheWrite1h,
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWrite,
        ephemeral_1h_input_tokens: cacheWrite1h,
      },
      output_tokens: output,
    }),
    soFar,
  );
}

type Block = { readonly whole: object; readonly start: object; readonly deltas: readonly object[] };

function blocksOf({ thought, calls, text }: Turn, cut: Cut): Block[] {
  const blocks: Block[] = calls.map(({ id, name, arguments: input }) => ({
    whole: { type: 'tool_use', id, name, input },
    start: { type: 'tool_use', id, name, input: {} },
    deltas: ['', ...piecesOf(JSON.stringify(input))].map((piece) => ({
      type: 'input_json_delta',
      partial_json: piece,
    })),
  }));
  if (text !== null) blocks.unshift(textBlock(text, cut(text)));
  if (thought) blocks.unshift(thinkingBlock(thought));
  return blocks;
}

function textBlock(text: string, pieces: readonly string[]): Block {
  const start = { type: 'text', text: '' };
  return {
    whole: { ...start, text },
    start,
    deltas: pieces.map((piece) => ({ type: 'text_delta', text: piece })),
  };
}

function thinkingBlock({ text, signature }: NonNullable<Turn['thought']>): Block {
  return {
    whole: { type: 'thinking', thinking: text, signature },
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...piecesOf(text).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ],
  };
}

function blockFrames({ start, deltas }: Block, index: number): SseFrame[] {
  return [
    frame('content_block_start', { index, content_block: start }),
    ...(index === 0 ? [frame('ping', {})] : []),
    ...deltas.map((delta) => frame('content_block_delta', { index, delta })),
    frame('content_block_stop', { index }),
  ];
}

function frame(type: string, fields: object): SseFrame {
  return { event: type, data: { type, ...fields } };
}

function reasonOf({ calls }: Turn): string {
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}
