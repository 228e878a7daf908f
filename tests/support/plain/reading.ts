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

/** The JSON objects in the `data:` lines of an event stream; each recorded event is one line. */
export function eventsOf(text: string): Json[] {
  const data = text.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []));
  return data.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Json);
}

export function readArguments(text: string): unknown {
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
