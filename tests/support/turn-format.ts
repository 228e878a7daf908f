// One turn of a scripted provider's model, and what a wire format must be able to write and read of
// it.
import type { SseFrame } from './upstream.ts';

export type ToolCall = {
  readonly id: string;
  readonly name: string;
  /** Text for a custom tool. */
  readonly arguments: object | string;
  /** Only calls of Responses have one. */
  readonly namespace?: string;
};
type Thought = { readonly text: string; readonly signature: string };

/** Tokens in disjoint buckets. Each wire format groups them differently. */
export type Tokens = {
  /** Input tokens neither read from nor written to the prompt cache. */
  readonly input: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  /** The part of `input` that is sound. Responses, Messages and Converse do not count it. */
  readonly audio?: number;
  readonly output: number;
  /** Input beside the prompt, of code that Google ran. */
  readonly toolUse?: number;
};

/** Calls or a text, possibly after thinking. */
export type Turn = {
  readonly thought: Thought | null;
  readonly calls: readonly ToolCall[];
  readonly text: string | null;
  /** The tokens that the provider counts; null: none. Left out: 20 of input and 10 of output. */
  readonly tokens?: Tokens | null;
};

const none = { cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, audio: 0, toolUse: 0 };

/** Returns the usage in a field, as the format counts it. `changes`: of the tokens. */
export function usageIn(
  field: string,
  { tokens = { input: 20, output: 10 } }: Turn,
  count: (tokens: Required<Tokens> & { readonly prompt: number }) => object,
  changes: Partial<Tokens> = {},
): object {
  if (tokens === null) return {};
  const all = { ...none, ...tokens, ...changes };
  const prompt = all.input + all.cacheRead + all.cacheWrite + all.cacheWrite1h;
  return { [field]: count({ ...all, prompt }) };
}

export function argumentsOf({ arguments: input }: ToolCall): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

export type Body = Readonly<Record<string, unknown>>;

/** Cuts a text into the deltas of a stream. */
export type Cut = (text: string) => readonly string[];

export type TurnFormat = {
  /**
   * The results of the calls in the request, in call order. A result without its call is reported
   * as such.
   */
  readonly readResults: (body: Body) => readonly string[];
  readonly toolNames: (body: Body) => readonly string[];
  readonly hasSchema: (body: Body) => boolean;
  readonly asksToThink: (body: Body) => boolean;
  /** The part of a thought that must come back. */
  readonly proof: (thought: Thought) => string;
  readonly whole: (turn: Turn) => object;
  /** `cut`: default: into pieces of three characters. */
  readonly frames: (turn: Turn, cut?: Cut) => readonly SseFrame[];
  /** The frames of a text before its first delta. */
  readonly openingFrames: number;
};

/** Matches calls with results by id. */
export function pairResults(
  callIds: readonly string[],
  results: ReadonlyMap<string, string>,
): string[] {
  const orphans = [...results.keys()]
    .filter((id) => !callIds.includes(id))
    .map((id) => `${id} has no call`);
  return [...callIds.map((id) => results.get(id) ?? `${id} has no result`), ...orphans].filter(
    () => results.size > 0,
  );
}

/** The text of a result: a string, or a list of text parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((part: { text?: string }) => part.text ?? '').join('')
    : '';
}

/** Pieces of three characters, so that arguments are split inside names, numbers and strings. */
export function piecesOf(text: string): string[] {
  return text.match(/.{1,3}/gsu) ?? [];
}

export function listOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? (value as Body[]) : [];
}
