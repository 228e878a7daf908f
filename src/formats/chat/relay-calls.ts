// Repairs an answer's calls on the straight path when clients would lose them: no index, one index
// for all, no id or type, arguments that are an object or missing. Translation tolerates the same
// faults (call-pieces.ts, read-answer.ts).
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { AnswerContext } from '../format.ts';
import { CallsByPiece, readCallPiece, type CallPiece } from './call-pieces.ts';

/** Repairs the calls of a choice's message. `idPrefix`: the beginning of generated ids. */
export function repairCalls<Message extends JsonObject>(
  message: Message,
  idPrefix: string,
): Message {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  return {
    ...message,
    tool_calls: calls.map((call, index) =>
      isObject(call) ? repairCall(call, `${idPrefix}_${index}`) : call,
    ),
  };
}

function repairCall(call: JsonObject, newId: string): JsonObject {
  const { id, kind, text } = readCallPiece(call);
  const isEmpty = kind === 'function' && text.trim() === '';
  return {
    ...call,
    ...typeOf(call, kind),
    ...argumentsOf(call, isEmpty ? '{}' : text),
    ...(id === '' && { id: newId }),
  };
}

/** The prefix is the same however an answer's bytes are split. */
export function callIdPrefix({ requestId }: AnswerContext, choiceIndex: number): string {
  return `call_${requestId}_${choiceIndex}`;
}

function typeOf(call: JsonObject, kind: CallPiece['kind']): JsonObject {
  return (call.type ?? null) === null && isObject(call[kind]) ? { type: kind } : {};
}

function argumentsOf({ function: called }: JsonObject, text: string): JsonObject {
  return !isObject(called) || called.arguments === text
    ? {}
    : { function: { ...called, arguments: text } };
}

type SeenCall = {
  /** The id that the client was sent; '' before it has one. */
  id: string;
  readonly index: number;
  readonly kind: CallPiece['kind'];
  text: string;
};

/** Repairs the calls of one choice of a stream. */
export class StreamedCalls {
  readonly #calls = new CallsByPiece<SeenCall>();
  readonly #idPrefix: string;
  readonly #taken = new Set<number>();
  #nextIndex = 0;

  constructor(idPrefix: string) {
    this.#idPrefix = idPrefix;
  }

  /** Repairs the entries of a delta's `tool_calls`, in order. */
  repair(pieces: readonly unknown[]): unknown[] {
    return pieces.filter(isObject).map((call) => this.#repairPiece(call));
  }

  /** Returns pieces for calls that have ended without arguments. */
  endPieces(): JsonObject[] {
    const empty = this.#calls.all.filter(
      ({ kind, text }) => kind === 'function' && text.trim() === '',
    );
    return empty.map((call) => {
      call.text = '{}';
      return { index: call.index, function: { arguments: call.text } };
    });
  }

  #repairPiece(call: JsonObject): JsonObject {
    const piece = readCallPiece(call);
    const known = this.#calls.find(piece);
    const seen = known ?? this.#add(piece);
    seen.text += piece.text;
    if (seen.id === '') seen.id = piece.id;
    const edits: Record<string, unknown> = {
      ...(!known && typeOf(call, piece.kind)),
      ...(piece.kind === 'function' && piece.text !== '' && argumentsOf(call, piece.text)),
    };
    if (call.index !== seen.index) edits.index = seen.index;
    // Clients use the id of the first piece, or of the last piece that has one, so it must not
    // change.
    if ((!known || piece.id !== '') && piece.id !== seen.id) edits.id = seen.id;
    return Object.keys(edits).length === 0 ? call : { ...call, ...edits };
  }

  #add(piece: CallPiece): SeenCall {
    const { name, kind } = piece;
    const isFree = piece.index !== null && !this.#taken.has(piece.index);
    const index = isFree ? piece.index : this.#nextIndex;
    this.#taken.add(index);
    this.#nextIndex = Math.max(this.#nextIndex, index + 1);
    const call: SeenCall = {
      id: piece.id || (name === '' ? '' : `${this.#idPrefix}_${index}`),
      index,
      kind,
      text: '',
    };
    this.#calls.add(call, piece);
    return call;
  }
}
