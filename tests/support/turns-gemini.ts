// Turns of a scripted Gemini provider: calls come whole and without ids, and the first one carries
// the signature.
import {
  listOf,
  piecesOf,
  usageIn,
  type Body,
  type Cut,
  type Tokens,
  type Turn,
  type TurnFormat,
} from './turn-format.ts';

export const geminiTurns: TurnFormat = {
  readResults: (body) => {
    const parts = listOf(body.contents).flatMap((content) => listOf(content.parts));
    const callCount = parts.filter(({ functionCall }) => functionCall !== undefined).length;
    const results = parts.flatMap(({ functionResponse }) =>
      functionResponse ? [resultOf(functionResponse as Body)] : [],
    );
    return results.length === 0 || results.length === callCount
      ? results
      : [`${callCount} calls have ${results.length} results`];
  },
  toolNames: (body) =>
    listOf(body.tools).flatMap((tool) =>
      listOf(tool.functionDeclarations).map(({ name }) => String(name)),
    ),
  hasSchema: (body) => {
    const config = (body.generationConfig ?? {}) as Body;
    return config.responseJsonSchema !== undefined || config.responseSchema !== undefined;
  },
  // Gemini 3 always signs its calls.
  asksToThink: () => true,
  proof: ({ signature }) => signature,
  whole: (turn) =>
    chunk(
      turn,
      partsOf(turn, (text) => [text]),
      { finishReason: 'STOP' },
    ),
  // Only the finish reason in the last chunk marks the end.
  frames: (turn, cut = piecesOf) => [
    ...partsOf(turn, cut).map((part) => ({
      data: chunk(turn, [part], {}, { output: 1 }),
    })),
    { data: chunk(turn, [{ text: '' }], { finishReason: 'STOP' }) },
  ],
  openingFrames: 0,
};

/** The gateway may send a text under any name in the response. */
function resultOf({ response }: Body): string {
  return Object.values((response ?? {}) as Record<string, unknown>)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join('');
}

/** Gemini reports no cache writes: its implicit cache charges them as plain input. */
function chunk(
  turn: Turn,
  parts: readonly object[],
  ending: object,
  soFar: Partial<Tokens> = {},
): object {
  return {
    candidates: [{ content: { parts, role: 'model' }, ...ending, index: 0 }],
    ...usageIn(
      'usageMetadata',
      turn,
      ({ prompt, toolUse, cacheRead, audio, output }) => ({
        promptTokenCount: prompt,
        ...(toolUse > 0 && { toolUsePromptTokenCount: toolUse }),
        ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
        ...(audio > 0 && { promptTokensDetails: [{ modality: 'AUDIO', tokenCount: audio }] }),
        candidatesTokenCount: output,
        totalTokenCount: prompt + toolUse + output,
      }),
      soFar,
    ),
    modelVersion: 'upstream-model-2026-01-01',
    // The ids of calls are made from it.
    responseId: ['upstreamResponse1', ...turn.calls.map(({ id }) => id)].join('-'),
  };
}

function partsOf({ thought, calls, text }: Turn, cut: Cut): object[] {
  return [
    ...(thought ? [{ text: thought.text, thought: true }] : []),
    ...(text === null ? [] : cut(text).map((piece) => ({ text: piece }))),
    ...calls.map(({ name, arguments: args }, index) => ({
      functionCall: { name, args },
      ...(thought && index === 0 && { thoughtSignature: thought.signature }),
    })),
  ];
}
