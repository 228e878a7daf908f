// Assigns the pieces of streamed calls to their calls: some hosts number all calls 0, others none.
import { isObject, type JsonObject, objectOf, parsedOr } from '../../lib/json.ts';
import { readText } from './content.ts';

export type CallPiece = {
  /** null when the host leaves it out (Mistral). */
  readonly index: number | null;
  /** '' when it is absent. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly kind: 'function' | 'custom';
};

/** The calls of a message or a delta, in OpenAI's older form too, which Snowflake sends empty. */
export function callsOf({ tool_calls: calls, function_call: legacy }: JsonObject): unknown[] {
  if (Array.isArray(calls)) return calls;
  return isObject(legacy) && (legacy.name || legacy.arguments)
    ? [{ index: 0, function: legacy }]
    : [];
}

/** Snowflake writes an empty `custom` beside every function. */
function isCustomCall({ type, custom, function: called }: JsonObject): boolean {
  return type === 'custom' || (isObject(custom) && !isObject(called));
}

/**
 * Reads an entry of a delta's `tool_calls`. Some hosts send the arguments as an object; it becomes
 * text.
 */
export function readCallPiece(call: JsonObject): CallPiece {
  const isCustom = isCustomCall(call);
  const called = isCustom ? call.custom : call.function;
  const { name, arguments: text, input } = objectOf(called);
  return {
    index: typeof call.index === 'number' ? call.index : null,
    id: readText(call.id),
    name: withoutChannel(readText(name)),
    text: isCustom
      ? readText(input)
      : typeof text === 'object' && text !== null
        ? JSON.stringify(text)
        : readText(text),
    kind: isCustom ? 'custom' : 'function',
  };
}

/**
 * Hosts of GLM and Hunyuan send one beside the real ones, which nobody can run:
 * github.com/experientiallabs/experiential/pull/963 (read 2026-11-30).
 */
export function isNoCall({ name, text }: Pick<CallPiece, 'name' | 'text'>): boolean {
  return name === '' && text.trim() === '';
}

/**
 * Servers of gpt-oss leave marks of its channels behind a name (`f<|channel|>commentary`):
 * github.com/vllm-project/vllm/pull/35906 (read 2026-11-30).
 */
function withoutChannel(name: string): string {
  const end = name.indexOf('<|');
  return end > 0 ? name.slice(0, end) : name;
}

/** A call's values so far; the code that added the call keeps them up to date. */
type KnownCall = { readonly id: string; readonly text: string };

/** The calls of a stream, found by their pieces. */
export class CallsByPiece<Call extends KnownCall> {
  readonly all: Call[] = [];
  readonly #byIndex = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  /** Calls that began without an id; some may have one by now. */
  readonly #begunWithoutId: Call[] = [];
  /** The text of each call's last piece. Searching the whole text would copy it for every piece. */
  readonly #lastTexts = new Map<Call, string>();

  /** Returns the call that a piece continues; undefined for a new one. */
  find(piece: CallPiece): Call | undefined {
    const call = this.#find(piece);
    if (call) this.#noteText(call, piece);
    return call;
  }

  add(call: Call, piece: CallPiece): void {
    const { index, id } = piece;
    this.all.push(call);
    if (index !== null) this.#byIndex.set(index, call);
    if (id === '') this.#begunWithoutId.push(call);
    else if (!this.#byId.has(id)) this.#byId.set(id, call);
    this.#noteText(call, piece);
  }

  #find({ index, id, name, text }: CallPiece): Call | undefined {
    if (index === null) {
      if (id !== '')
        return this.#byId.get(id) ?? this.#begunWithoutId.find((call) => call.id === id);
      return name === '' ? this.all.at(-1) : undefined;
    }
    const call = this.#byIndex.get(index);
    if (!call || name === '') return call;
    // Gemini's compatible endpoint numbers every parallel call 0. So a new id with a name starts a
    // new call, and so does a piece without an id when the arguments are complete. A new id alone
    // does not: some hosts invent one for every piece.
    const hasOtherId = id !== '' && call.id !== '' && id !== call.id;
    return hasOtherId || (id === '' && text.trim() !== '' && this.#isWhole(call))
      ? undefined
      : call;
  }

  #isWhole(call: Call): boolean {
    return this.#lastTexts.get(call)?.trimEnd().endsWith('}') === true && isWholeObject(call.text);
  }

  #noteText(call: Call, { text }: CallPiece): void {
    if (text.trim() !== '') this.#lastTexts.set(call, text);
  }
}

/** Returns true when arguments are a whole JSON object, which nothing can follow. */
export function isWholeObject(text: string): boolean {
  return text.trimEnd().endsWith('}') && isObject(parsedOr(text, null));
}
