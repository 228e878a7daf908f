// Turns of a scripted Gemini provider: calls come whole and without ids, and the first one carries
// the signature.
import { listOf, tokensOf, type Body, type Turn, type TurnFormat } from './turn-format.ts';

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
  whole: (turn) => chunk(turn, partsOf(turn), 'STOP'),
  frames: (turn) => [
    ...partsOf(turn).map((part) => ({ data: chunk(turn, [part]) })),
    { data: chunk(turn, [{ text: '' }], 'STOP') },
  ],
};

/** The gateway may send a text under any name in the response. */
function resultOf({ response }: Body): string {
  return Object.values((response ?? {}) as Record<string, unknown>)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join('');
}

function chunk(turn: Turn, parts: readonly object[], finishReason?: string): object {
  const { input, output, total } = tokensOf(turn);
  return {
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts },
        ...(finishReason !== undefined && { finishReason }),
      },
    ],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: total,
    },
    modelVersion: 'upstream',
    // The ids of calls are made from it.
    responseId: ['upstream', ...turn.calls.map(({ id }) => id)].join('-'),
  };
}

function partsOf({ thought, calls, text }: Turn): object[] {
  return [
    ...(thought ? [{ text: thought.text, thought: true }] : []),
    ...(text === null ? [] : [{ text }]),
    ...calls.map(({ name, arguments: args }, index) => ({
      functionCall: { name, args },
      ...(thought && index === 0 && { thoughtSignature: thought.signature }),
    })),
  ];
}
