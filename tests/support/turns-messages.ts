// Turns of a scripted Messages provider; its thinking is signed.
import {
  listOf,
  pairResults,
  piecesOf,
  textOf,
  tokensOf,
  type Body,
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
    content: blocksOf(turn).map(({ whole }) => whole),
    stop_reason: reasonOf(turn),
    usage: usageOf(turn),
  }),
  frames: (turn) => [
    frame('message_start', {
      message: {
        ...head,
        content: [],
        stop_reason: null,
        usage: { ...usageOf(turn), output_tokens: 1 },
      },
    }),
    ...blocksOf(turn).flatMap(blockFrames),
    frame('message_delta', {
      delta: { stop_reason: reasonOf(turn), stop_sequence: null },
      usage: { output_tokens: tokensOf(turn).output },
    }),
    frame('message_stop', {}),
  ],
};

const head = {
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: 'upstream',
  stop_sequence: null,
};

function usageOf(turn: Turn) {
  const { input, output } = tokensOf(turn);
  return { input_tokens: input, output_tokens: output };
}

type Block = { readonly whole: object; readonly start: object; readonly deltas: readonly object[] };

function blocksOf({ thought, calls, text }: Turn): Block[] {
  const blocks: Block[] = calls.map(({ id, name, arguments: input }) => ({
    whole: { type: 'tool_use', id, name, input },
    start: { type: 'tool_use', id, name, input: {} },
    deltas: ['', ...piecesOf(JSON.stringify(input))].map((piece) => ({
      type: 'input_json_delta',
      partial_json: piece,
    })),
  }));
  if (text !== null) blocks.unshift(textBlock(text));
  if (thought) blocks.unshift(thinkingBlock(thought));
  return blocks;
}

function textBlock(text: string): Block {
  const start = { type: 'text', text: '' };
  return {
    whole: { ...start, text },
    start,
    deltas: piecesOf(text).map((piece) => ({ type: 'text_delta', text: piece })),
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
