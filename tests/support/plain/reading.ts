// What anybody would read out of an answer, by the documentation of its wire format alone: no code of the gateway is used here, so that
// the two can be held against each other. Each wire has its reader beside this file.

export type WireFormatName = 'responses' | 'chat' | 'messages' | 'gemini';

/** JSON of any shape: recordings have no type, and are read plainly. */
export type Json = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- as said above

export type Call = {
  readonly name: string;
  /** The parsed arguments; the text where it is no JSON, as the free input of a custom tool or a call that was cut off. */
  readonly arguments: unknown;
};

/** Tokens as a bill would state them: what was cached is part of the input, what was reasoned is part of the output. */
export type Counts = {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
};

export type Reading = {
  /** Text, and the words of a refusal: wires without a place for those show them as text. */
  readonly text: string;
  readonly reasoning: string;
  /** Opaque proofs of reasoning that must find their way back to the provider. */
  readonly signatures: readonly string[];
  readonly calls: readonly Call[];
  readonly stop: 'end' | 'tools' | 'length' | 'filter' | 'pause' | 'failed';
  readonly usage: Counts | null;
};

export const failedReading: Reading = { text: '', reasoning: '', signatures: [], calls: [], stop: 'failed', usage: null };

/** The JSON objects in an event stream. The data of an event may be on several lines. */
export function eventsOf(text: string): Json[] {
  const blocks = text.split(/(?:\r?\n){2,}/).map((block) => block.split(/\r?\n/).filter((line) => line.startsWith('data:')));
  const data = blocks.map((lines) => lines.map((line) => line.slice(5).trim()).join('\n'));
  return data.filter((json) => json.startsWith('{')).map((json) => JSON.parse(json) as Json);
}

/** Of a call: JSON text, or with some hosts the object itself. */
export function readArguments(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  // A function without parameters may be called with no text at all.
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
