// Repairs an answer's calls on the straight path when clients would lose them: no index, one index
// for all, no id or type, a name that comes late, in every piece or with marks, arguments that are an
// object or missing. Translation tolerates the same faults (call-pieces.ts, read-answer.ts).
import { isObject, type JsonObject } from '../../lib/json.ts';
import { UnreadableAnswer, type AnswerContext } from '../format.ts';
import { CallsByPiece, isNoCall, readCallPiece, type CallPiece } from './call-pieces.ts';

/**
 * Repairs the calls of a choice's message. `idPrefix`: the beginning of generated ids. Throws
 * UnreadableAnswer on arguments without a name.
 */
export function repairCalls<Message extends JsonObject>(
  message: Message,
  idPrefix: string,
): Message {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  return {
    ...message,
    tool_calls: calls
      .filter(isCall)
      .map((call, index) => (isObject(call) ? repairCall(call, `${idPrefix}_${index}`) : call)),
  };
}

export function isCall(call: unknown): boolean {
  return !isObject(call) || !isNoCall(readCallPiece(call));
}

function repairCall(sent: JsonObject, newId: string): JsonObject {
  const piece = readCallPiece(sent);
  const { id, name, kind, text } = piece;
  if (name === '') throw new UnreadableAnswer(namelessCall);
  const call = withName(sent, piece);
  const isEmpty = kind === 'function' && text.trim() === '';
  return {
    ...call,
    ...typeOf(call, kind),
    ...textOf(call, kind, isEmpty ? '{}' : text),
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

/** Returns the call with the name as it was read, without the host's marks. */
function withName(call: JsonObject, { kind, name }: CallPiece): JsonObject {
  const called = call[kind];
  if (name === '' || !isObject(called) || called.name === name) return call;
  return { ...call, [kind]: { ...called, name } };
}

function textOf(call: JsonObject, kind: CallPiece['kind'], text: string): JsonObject {
  const called = call[kind];
  const field = kind === 'custom' ? 'input' : 'arguments';
  return !isObject(called) || called[field] === text
    ? {}
    : { [kind]: { ...called, [field]: text } };
}

const namelessCall = 'a tool call of the answer has no name';

type SeenCall = {
  /** The id that the client was sent; '' before it has one. */
  id: string;
  name: string;
  readonly index: number;
  readonly kind: CallPiece['kind'];
  text: string;
  /** False until the call has its name: clients read it from the first piece. */
  isSent: boolean;
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

  /** Repairs the entries of a delta's `tool_calls`, in order. Those of a nameless call wait. */
  repair(pieces: readonly unknown[]): unknown[] {
    return pieces.filter(isObject).flatMap((call) => this.#repairPiece(call) ?? []);
  }

  /**
   * Returns pieces for calls that have ended without arguments. Throws UnreadableAnswer when a call
   * with arguments has no name.
   */
  endPieces(): JsonObject[] {
    if (this.#calls.all.some((call) => !call.isSent && !isNoCall(call)))
      throw new UnreadableAnswer(namelessCall);
    const empty = this.#calls.all.filter(
      ({ isSent, kind, text }) => isSent && kind === 'function' && text.trim() === '',
    );
    return empty.map((call) => {
      call.text = '{}';
      return { index: call.index, function: { arguments: call.text } };
    });
  }

  #repairPiece(sent: JsonObject): JsonObject | null {
    const piece = readCallPiece(sent);
    const call = withName(sent, piece);
    const { kind } = piece;
    const seen = this.#calls.find(piece) ?? this.#add(piece);
    seen.text += piece.text;
    seen.id ||= piece.id;
    seen.name ||= piece.name;
    if (seen.name === '') return null;
    const isFirst = !seen.isSent;
    seen.isSent = true;
    seen.id ||= `${this.#idPrefix}_${seen.index}`;
    // The first piece brings what had to wait for the name.
    const text = isFirst ? seen.text : piece.text;
    const edits: Record<string, unknown> = {
      ...(isFirst && typeOf(call, kind)),
      ...((text !== '' || hasNull(call[kind])) && textOf(call, kind, text)),
    };
    if (!isFirst && piece.name === seen.name)
      edits[kind] = withoutName({ ...call, ...edits }[kind] as JsonObject);
    // Some clients begin a new call at any id, and an empty one is no id.
    if (!isFirst && call.id === '') edits.id = undefined;
    if (call.index !== seen.index) edits.index = seen.index;
    // Clients use the id of the first piece, or of the last piece that has one, so it must not
    // change.
    if ((isFirst || piece.id !== '') && piece.id !== seen.id) edits.id = seen.id;
    return Object.keys(edits).length === 0 ? call : { ...call, ...edits };
  }

  #add(piece: CallPiece): SeenCall {
    const isFree = piece.index !== null && !this.#taken.has(piece.index);
    const index = isFree ? piece.index : this.#nextIndex;
    this.#taken.add(index);
    this.#nextIndex = Math.max(this.#nextIndex, index + 1);
    const { id, name, kind } = piece;
    const call: SeenCall = { id, name, index, kind, text: '', isSent: false };
    this.#calls.add(call, piece);
    return call;
  }
}

/** Goose and others want a text, or nothing. */
function hasNull(called: unknown): boolean {
  return isObject(called) && (called.arguments === null || called.input === null);
}

/** Some clients join the names of all pieces. */
function withoutName({ name: _name, ...called }: JsonObject): JsonObject {
  return called;
}
