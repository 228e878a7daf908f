// Turns of a scripted model on Bedrock's Converse, Claude's: its thinking is signed. The usage comes
// behind the stop reason.
import {
  argumentsOf,
  listOf,
  pairResults,
  piecesOf,
  textOf,
  usageIn,
  type Body,
  type Cut,
  type Turn,
  type TurnFormat,
} from './turn-format.ts';
import type { SseFrame } from './upstream.ts';

export const converseTurns: TurnFormat = {
  readResults: (body) => {
    const blocks = listOf(body.messages).flatMap(({ content }) => listOf(content));
    const of = (name: string): Body[] =>
      blocks.flatMap((block) => (block[name] === undefined ? [] : [block[name] as Body]));
    return pairResults(
      of('toolUse').map(({ toolUseId }) => String(toolUseId)),
      new Map(
        of('toolResult').map(({ toolUseId, content }) => [String(toolUseId), textOf(content)]),
      ),
    );
  },
  toolNames: ({ toolConfig }) =>
    listOf((toolConfig as Body | undefined)?.tools).flatMap(({ toolSpec }) =>
      toolSpec ? String((toolSpec as Body).name) : [],
    ),
  hasSchema: ({ outputConfig }) => (outputConfig as Body | undefined)?.textFormat !== undefined,
  asksToThink: ({ additionalModelRequestFields: fields }) => {
    const { thinking } = (fields ?? {}) as Body;
    return ['enabled', 'adaptive'].includes(String((thinking as Body | undefined)?.type));
  },
  proof: ({ signature }) => signature,
  whole: (turn) => ({
    output: {
      message: { role: 'assistant', content: blocksOf(turn, piecesOf).map(({ whole }) => whole) },
    },
    stopReason: reasonOf(turn),
    ...usageOf(turn),
    metrics: { latencyMs: 1 },
  }),
  frames: (turn, cut = piecesOf) => [
    { event: 'messageStart', data: { role: 'assistant' } },
    ...blocksOf(turn, cut).flatMap(blockFrames),
    { event: 'messageStop', data: { stopReason: reasonOf(turn) } },
    { event: 'metadata', data: { ...usageOf(turn), metrics: { latencyMs: 1 } } },
  ],
  openingFrames: 1,
};

function usageOf(turn: Turn): object {
  return usageIn(
    'usage',
    turn,
    ({ prompt, input, cacheRead, cacheWrite, cacheWrite1h, output }) => ({
      inputTokens: input,
      cacheReadInputTokens: cacheRead,
      cacheWriteInputTokens: cacheWrite + cacheWrite1h,
      ...(cacheWrite1h > 0 && { cacheDetails: [{ ttl: '1h', inputTokens: cacheWrite1h }] }),
      outputTokens: output,
      totalTokens: prompt + output,
    }),
  );
}

type Block = {
  readonly whole: object;
  /** null: it begins with its first delta. */
  readonly start: object | null;
  readonly deltas: readonly object[];
};

function blocksOf({ thought, calls, text }: Turn, cut: Cut): Block[] {
  return [
    ...(thought
      ? [
          {
            whole: { reasoningContent: { reasoningText: thought } },
            start: null,
            deltas: [
              ...piecesOf(thought.text).map((piece) => ({ reasoningContent: { text: piece } })),
              { reasoningContent: { signature: thought.signature } },
            ],
          },
        ]
      : []),
    ...(text === null
      ? []
      : [
          {
            whole: { text },
            start: null,
            deltas: cut(text).map((piece) => ({ text: piece })),
          },
        ]),
    ...calls.map((call) => ({
      whole: { toolUse: { toolUseId: call.id, name: call.name, input: call.arguments } },
      start: { toolUse: { toolUseId: call.id, name: call.name } },
      deltas: piecesOf(argumentsOf(call)).map((piece) => ({ toolUse: { input: piece } })),
    })),
  ];
}

function blockFrames({ start, deltas }: Block, contentBlockIndex: number): SseFrame[] {
  return [
    ...(start ? [{ event: 'contentBlockStart', data: { contentBlockIndex, start } }] : []),
    ...deltas.map((delta) => ({ event: 'contentBlockDelta', data: { contentBlockIndex, delta } })),
    { event: 'contentBlockStop', data: { contentBlockIndex } },
  ];
}

function reasonOf({ calls }: Turn): string {
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}
