// Pairs the calls of a conversation with their results: each call has one result, right behind the
// turn that made it. Vendors refuse anything else, but clients send it: they are interrupted between
// a call and its result, cut the history, run a tool while the model goes on, or report its output
// in pieces. Formats differ in where calls and results are, so they pass steps.
import { type JsonObject, textOf } from '../../lib/json.ts';

export type Step = {
  readonly item: JsonObject;
  /** The ids of the calls in it. */
  readonly calls: readonly string[];
  /** The id of the call that it answers; null: it is no result. */
  readonly answers: string | null;
};

export type ResultShape = {
  /** The field that holds a text, or parts. */
  readonly field: 'content' | 'output';
  readonly textType: 'text' | 'input_text';
  readonly write: (callId: string, parts: readonly JsonObject[]) => JsonObject;
};

type Turn = { readonly item: JsonObject; readonly results: JsonObject[][] };
/** The calls of an id that have no result yet are `turns` from `next` on. */
type Waiting = { readonly turns: Turn[]; next: number };
/** `after`: the turn that the first piece was sent behind. */
type Answered = { readonly pieces: JsonObject[]; readonly after: Turn };

/**
 * Returns null when the steps are in order. A result answers a call of the turn before it, else the
 * first call of its id that has no result yet. A further result joins the first one if only results
 * are between them, as when Codex sends the output of a running tool; else it becomes words of the
 * user, as does a result without a call.
 */
export function pairResults(steps: readonly Step[], shape: ResultShape): JsonObject[] | null {
  const turns: Turn[] = [];
  const waiting = new Map<string, Waiting>();
  const answered = new Map<string, Answered>();
  let current: Turn = { item: {}, results: [] };
  let isInOrder = true;
  for (const { item, calls, answers } of steps) {
    if (answers === null) {
      current = { item, results: [] };
      turns.push(current);
      for (const id of calls) {
        if (!waiting.has(id)) waiting.set(id, { turns: [], next: 0 });
        waiting.get(id)!.turns.push(current);
      }
      continue;
    }
    const turn = takeCaller(waiting.get(answers), current);
    const first = answered.get(answers);
    isInOrder &&= turn === current;
    if (turn) {
      const pieces = [item];
      answered.set(answers, { pieces, after: current });
      turn.results.push(pieces);
    } else if (first?.after === current) first.pieces.push(item);
    else turns.push({ item: asUser(item, answers, { shape, isMore: !!first }), results: [] });
  }
  for (const [id, { turns: callers, next }] of waiting) {
    for (const { results } of callers.slice(next)) {
      isInOrder = false;
      results.push([missingResult(id, shape)]);
    }
  }
  if (isInOrder) return null;
  return turns.flatMap(({ item, results }) => [
    item,
    ...results.map((pieces) => joinPieces(pieces, shape)),
  ]);
}

function takeCaller(waiting: Waiting | undefined, current: Turn): Turn | undefined {
  if (!waiting || waiting.next === waiting.turns.length) return undefined;
  if (waiting.turns.at(-1) === current) return waiting.turns.pop();
  return waiting.turns[waiting.next++];
}

export function missingResult(callId: string, { textType, write }: ResultShape): JsonObject {
  return write(callId, [{ type: textType, text: '[No result: the call was interrupted.]' }]);
}

/** `isMore`: the call has a result already. */
export function asUser(
  result: JsonObject,
  callId: string,
  { shape, isMore = false }: { shape: ResultShape; isMore?: boolean },
): JsonObject {
  const text = isMore
    ? `[More output of the tool call ${callId}]`
    : `[Output of the tool call ${callId}, which is not in this conversation]`;
  return wordsOfUser(text, result, shape);
}

/** Returns the output of a tool that was not called as the user's. */
export function uncalledAsUser(result: JsonObject, shape: ResultShape): JsonObject {
  return wordsOfUser(uncalledLabel(result), result, shape);
}

function wordsOfUser(text: string, result: JsonObject, { field, textType }: ResultShape) {
  const words = { type: textType, text };
  return { role: 'user', content: [words, ...partsOf(result[field], textType)] };
}

/** Returns what stands before the output of a tool that was not called. */
export function uncalledLabel({ name }: JsonObject): string {
  return `[Output of the tool ${textOf(name)}]`;
}

function joinPieces(
  pieces: readonly JsonObject[],
  { field, textType, write }: ResultShape,
): JsonObject {
  const [first] = pieces;
  if (pieces.length === 1) return first!;
  const parts = pieces.flatMap((piece) => partsOf(piece[field], textType));
  return { ...first, ...pieces.at(-1), [field]: write('', parts)[field] };
}

/** Returns the parts of a content, which may be one text or missing. */
export function partsOf(content: unknown, textType = 'text'): readonly JsonObject[] {
  if (Array.isArray(content)) return content as JsonObject[];
  return typeof content === 'string' ? [{ type: textType, text: content }] : [];
}
