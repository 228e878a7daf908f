// Most chunks of a stream differ from the one before only in the text of their delta, or in the
// arguments of its call, and in OpenAI's `obfuscation`. Such a chunk is recognised by the JSON
// around these strings. Only they are read and written; the rest is parsed and written once for all
// chunks that are alike.
import { endOfString, isObject, type JsonObject, objectOf, listOf } from '../../lib/json.ts';
import { parseEventData } from '../event-data.ts';

/** Some hosts' chunks differ elsewhere too: after so many templates in vain, no more are made. */
const vainTemplatesMax = 3;
/** A template is kept in memory while its stream runs. */
const templateCharactersMax = 4_000;
/** Each gap is searched for in the whole chunk. Real chunks have one to three. */
const gapsMax = 8;

/** Parses and writes the chunks of one stream. */
export class SimilarChunks {
  #template: Template | null = null;
  /** Templates since the last chunk that was like one. */
  #vainTemplates = 0;

  /**
   * As `parseEventData`. The next call may return the same object with other texts, so the caller
   * must not keep those, and must not change the object.
   */
  parse(data: string): unknown {
    if (this.#template?.fill(data)) {
      this.#vainTemplates = 0;
      return this.#template.chunk;
    }
    const chunk = parseEventData(data);
    if (isObject(chunk)) this.#learn(data, chunk);
    return chunk;
  }

  /**
   * Returns what `write` returns for a chunk that was just parsed. `write` must depend on nothing
   * else, because it is not called for a chunk like an earlier one.
   */
  write(chunk: JsonObject, write: () => string): string {
    return this.isAlike(chunk) ? this.#template!.write(write) : write();
  }

  /** True for a chunk that is like an earlier one. */
  isAlike(chunk: JsonObject): boolean {
    return chunk === this.#template?.chunk;
  }

  #learn(data: string, chunk: Record<string, unknown>): void {
    if (this.#vainTemplates === vainTemplatesMax || data.length > templateCharactersMax) return;
    const gaps = gapsOf(chunk);
    if (gaps.length === 0 || gaps.length > gapsMax) return;
    this.#vainTemplates++;
    this.#template = Template.of(data, gaps) ?? this.#template;
  }
}

/** A string that differs from chunk to chunk. */
type Gap = { readonly holder: Record<string, unknown>; readonly name: string };
type ReadString = { readonly value: string; readonly json: string };

/** A chunk, and the JSON that all chunks like it have in common. */
class Template {
  readonly chunk: JsonObject;
  readonly #gaps: readonly Gap[];
  /** The JSON before, between and after the gaps. */
  readonly #read: readonly string[];
  /** The same of the written chunk. undefined: not written yet; null: its gaps differ. */
  #written: readonly string[] | null | undefined;
  /** The strings in the gaps now. */
  #strings: readonly ReadString[] = [];

  /** Returns null when the gaps are not found in the data. */
  static of(data: string, gaps: readonly Gap[]): Template | null {
    // A text that is a mark already would hide that its mark was put elsewhere.
    if (gaps.some((gap, index) => valueOf(gap) === markOf(index))) return null;
    const marked = markStrings(data, gaps.map(valueOf));
    const chunk = marked === null ? null : parseEventData(marked);
    if (marked === null || !isObject(chunk)) return null;
    // The marks are in the right places only if they are read where the strings were.
    const marks = gapsOf(chunk);
    const isRight =
      marks.length === gaps.length && marks.every((gap, index) => valueOf(gap) === markOf(index));
    const read = splitAtMarks(marked, gaps.length);
    return isRight && read ? new Template(chunk, marks, read) : null;
  }

  private constructor(chunk: JsonObject, gaps: readonly Gap[], read: readonly string[]) {
    this.chunk = chunk;
    this.#gaps = gaps;
    this.#read = read;
  }

  /** Puts the strings of a chunk into `chunk`. Returns false when it differs elsewhere. */
  fill(data: string): boolean {
    const strings = stringsBetween(this.#read, data);
    if (!strings) return false;
    this.#strings = strings;
    for (const [index, { value }] of strings.entries()) setValue(this.#gaps[index]!, value);
    return true;
  }

  write(write: () => string): string {
    if (this.#written === undefined) this.#written = this.#learnToWrite(write);
    if (this.#written === null) return write();
    let text = this.#written[0]!;
    for (const [index, { json }] of this.#strings.entries())
      text += json + this.#written[index + 1]!;
    return text;
  }

  #learnToWrite(write: () => string): readonly string[] | null {
    for (const [index, gap] of this.#gaps.entries()) setValue(gap, markOf(index));
    const written = splitAtMarks(write(), this.#gaps.length);
    for (const [index, { value }] of this.#strings.entries()) setValue(this.#gaps[index]!, value);
    return written;
  }
}

/** In the order in which hosts write them. None: the chunk has no text. */
function gapsOf(chunk: Record<string, unknown>): Gap[] {
  const [choice] = listOf(chunk.choices);
  const delta = objectOf(choice).delta;
  if (!isObject(delta)) return [];
  const texts = [
    ...textNames.map((name) => ({ holder: delta, name })),
    ...listOf(delta.tool_calls).flatMap(gapOfCall),
  ].filter(hasText);
  const obfuscation = [{ holder: chunk, name: 'obfuscation' }].filter(hasText);
  return texts.length === 0 ? [] : [...texts, ...obfuscation];
}

/** Fields of a delta that hold text. */
export const textNames = ['content', 'reasoning_content', 'reasoning'];

function gapOfCall(call: unknown): Gap[] {
  return isObject(call) && isObject(call.function)
    ? [{ holder: call.function, name: 'arguments' }]
    : [];
}

function valueOf({ holder, name }: Gap): unknown {
  return holder[name];
}

function setValue({ holder, name }: Gap, value: string): void {
  holder[name] = value;
}

function hasText(gap: Gap): boolean {
  const value = valueOf(gap);
  return typeof value === 'string' && value !== '';
}

/** Stands for the string of a gap. Each gap has its own, because two strings may be equal. */
function markOf(gap: number): string {
  return `text ${gap} of a chunk`;
}

/** Replaces these strings by marks, one after the other. Returns null when one is not found. */
function markStrings(data: string, values: readonly unknown[]): string | null {
  let marked = '';
  let end = 0;
  for (const [index, value] of values.entries()) {
    const json = JSON.stringify(value);
    const start = data.indexOf(json, end);
    if (start === -1) return null;
    marked += data.slice(end, start) + JSON.stringify(markOf(index));
    end = start + json.length;
  }
  return marked + data.slice(end);
}

/** Returns null unless each mark occurs once, in this order. */
function splitAtMarks(json: string, marks: number): readonly string[] | null {
  const parts: string[] = [];
  let end = 0;
  for (let gap = 0; gap < marks; gap++) {
    const markJson = JSON.stringify(markOf(gap));
    const start = json.indexOf(markJson);
    if (start < end || start !== json.lastIndexOf(markJson)) return null;
    parts.push(json.slice(end, start));
    end = start + markJson.length;
  }
  return [...parts, json.slice(end)];
}

/** Returns the strings between these parts. null: the JSON has other parts. */
function stringsBetween(parts: readonly string[], json: string): readonly ReadString[] | null {
  const strings: ReadString[] = [];
  let start = 0;
  for (const part of parts) {
    const end = start + part.length;
    if (json.slice(start, end) !== part) return null;
    if (strings.length === parts.length - 1) return end === json.length ? strings : null;
    start = endOfString(json, end) + 1;
    const string = readString(json.slice(end, start));
    if (!string) return null;
    strings.push(string);
  }
  return null;
}

/** A string without escapes, which is written as it is read. */
// oxlint-disable-next-line no-control-regex
const plainString = /^"[^"\\\u0000-\u001f\ud800-\udfff]*"$/;

/** Copies the string: a slice would keep its whole chunk in memory as long as the answer's text. */
function readString(json: string): ReadString | null {
  if (plainString.test(json)) return { value: JSON.parse(json) as string, json };
  const value = parseEventData(json);
  return typeof value === 'string' ? { value, json: JSON.stringify(value) } : null;
}
