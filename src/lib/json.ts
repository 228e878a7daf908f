// Parses untrusted JSON. Nesting is checked before `JSON.parse`, which accepts ten million brackets
// and takes seconds for them.

import { parseWithArguments } from './exact-json.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly isTooDeep?: boolean };

export const jsonDepthMax = 64;
/**
 * The most values in a request. Many small values cost far more time than long texts of the same
 * size, and nothing else runs meanwhile. A conversation of a million tokens has some ten thousand.
 */
export const requestValuesMax = 50_000;
const quote = 0x22;
const backslash = 0x5c;

type Bounds = {
  /** Levels of nesting. */
  readonly depthMax?: number;
  /** Objects, lists, and their members after the first. */
  readonly valuesMax?: number;
};

const bom = Buffer.from('\uFEFF');

/** Returns the bytes without a byte order mark, with which some hosts, and editors on Windows, begin JSON. */
export function withoutBom(bytes: Buffer): Buffer {
  return bytes.subarray(0, bom.length).equals(bom) ? bytes.subarray(bom.length) : bytes;
}

/**
 * Parses UTF-8 JSON within bounds, which are checked before. The failure message can be sent to the
 * client.
 */
export function parseJson(
  bytes: Uint8Array,
  { depthMax = jsonDepthMax, valuesMax = Infinity }: Bounds = {},
): ParsedJson {
  if (bytes.length === 0) return { ok: false, message: 'the body is empty; send a JSON object' };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const scan = new JsonScan({ depthMax, valuesMax });
  switch (scan.findExcess(text)) {
    case 'depth':
      return {
        ok: false,
        message: `the body is nested deeper than ${depthMax} levels`,
        isTooDeep: true,
      };
    case 'values':
      return {
        ok: false,
        message: `the body has more than ${valuesMax} values; send shorter lists and objects`,
      };
  }
  try {
    return { ok: true, value: scan.hasLongNumber ? parseWithArguments(text) : JSON.parse(text) };
  } catch (error) {
    return { ok: false, message: `the body is not valid JSON${placeOf(String(error))}` };
  }
}

/** Returns the value of JSON text, and `otherwise` for any other text. */
export function parsedOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** Passes on only the position: V8's message quotes the text around the error. */
function placeOf(message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return ` (at character ${position})`;
  return message.includes('end of JSON') ? ' (it ends too early)' : '';
}

/**
 * Writes JSON in which half of a character (an unpaired surrogate) is U+FFFD. Anthropic refuses a
 * whole body for one, and so every later turn, too (github.com/anthropics/claude-code/issues/68325,
 * read 2026-11-30).
 */
export function writeJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\ud') ? text.replace(tornEscapes, '\ufffd') : text;
}

/** `JSON.stringify` escapes no whole character so. Behind backslashes of the text, each of which is two. */
const tornEscapes = /(?<=[^\\](?:\\\\)*)\\ud[89a-f]../g;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Readers of untrusted values. They return an empty value for any other type.

export function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value).filter(isObject);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function textOrNull(value: unknown): string | null {
  return textOf(value) || null;
}

/**
 * Returns true when JSON text is nested too deeply to parse safely: V8 parses any depth but
 * overflows its stack when it serialises the value again.
 */
export function isTooDeep(text: string, depthMax = jsonDepthMax): boolean {
  return new JsonScan({ depthMax }).findExcess(text) !== null;
}

/** Checks JSON texts before they are parsed. Counts the values of all texts together. */
export class JsonScan {
  /** True after a number that a double may not hold: of 16 digits, or with an exponent. */
  hasLongNumber = false;
  readonly #bounds: Bounds;
  #values = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** One pass over the text; strings, most of the text, are skipped with a native search. */
  findExcess(text: string): 'depth' | 'values' | null {
    const { depthMax = Infinity, valuesMax = Infinity } = this.#bounds;
    let depth = 0;
    let values = this.#values;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code === quote) {
        index = endOfString(text, index);
      } else if (code === 0x5b || code === 0x7b) {
        if (++depth > depthMax) return 'depth';
        if (++values > valuesMax) return 'values';
      } else if (code === 0x2c) {
        if (++values > valuesMax) return 'values';
      } else if (code === 0x5d || code === 0x7d) {
        depth--;
      } else if (isDigit(code)) {
        const start = index;
        while (isDigit(text.charCodeAt(index + 1))) index++;
        const hasExponent = (text.charCodeAt(index + 1) | 0x20) === 0x65;
        this.hasLongNumber ||= hasExponent || index - start >= 15;
      }
    }
    this.#values = values;
    return null;
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * Returns the index of the quote that closes the string opened at `start`, or the end of the text.
 */
export function endOfString(text: string, start: number): number {
  let end = start;
  for (let tries = 0; tries < searchesMax; tries++) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  for (end++; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === quote) return end;
    if (code === backslash) end++;
  }
  return text.length;
}

/** A native search is faster than a loop in ordinary text, and ten times slower in quotes. */
const searchesMax = 16;
