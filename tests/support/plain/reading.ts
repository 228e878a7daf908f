// An independent reading of answers, based only on the documentation of each wire format. It uses
// no gateway code, so that the two can be compared. Each format has its reader beside this file.

export type WireFormatName = 'responses' | 'chat' | 'messages' | 'gemini';

/** JSON of any shape: recordings have no type. */
export type Json = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- as said above

export type Call = {
  readonly name: string;
  /**
   * Parsed arguments; the raw text when it is not JSON, as in a custom tool's input or a call cut
   * off.
   */
  readonly arguments: unknown;
};

/** Tokens as on a bill: input includes cached tokens, output includes reasoning. */
export type Counts = {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
};

export type Reading = {
  /** Text and refusals: formats without a field for refusals show them as text. */
  readonly text: string;
  readonly reasoning: string;
  /** Opaque reasoning signatures that must return to the provider. */
  readonly signatures: readonly string[];
  readonly calls: readonly Call[];
  /** The URLs of cited pages. */
  readonly pages: readonly string[];
  readonly stop: 'end' | 'tools' | 'length' | 'filter' | 'pause' | 'failed';
  readonly usage: Counts | null;
};

export const failedReading: Reading = {
  text: '',
  reasoning: '',
  signatures: [],
  calls: [],
  pages: [],
  stop: 'failed',
  usage: null,
};

/** The JSON objects of an event stream. An event's data may span several lines. */
export function eventsOf(text: string): Json[] {
  const blocks = text
    .split(/(?:\r?\n){2,}/)
    .map((block) => block.split(/\r?\n/).filter((line) => line.startsWith('data:')));
  const data = blocks.map((lines) => lines.map((line) => line.slice(5).trim()).join('\n'));
  return data.filter((json) => json.startsWith('{')).map((json) => JSON.parse(json) as Json);
}

/** A call's arguments: JSON text or, from some hosts, an object. */
export function readArguments(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  // A function without parameters may be called with an empty text.
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function joinTexts(values: readonly unknown[]): string {
  return values.filter((value) => typeof value === 'string').join('');
}
