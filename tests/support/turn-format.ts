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

/** Calls or a text, possibly after thinking. */
export type Turn = {
  readonly thought: Thought | null;
  readonly calls: readonly ToolCall[];
  readonly text: string | null;
  /** The tokens that the provider counts. Left out: 20 of input and 10 of output. */
  readonly tokens?: { readonly input: number; readonly output: number };
};

export const tokensOf = ({ tokens = { input: 20, output: 10 } }: Turn) => ({
  ...tokens,
  total: tokens.input + tokens.output,
});

export function argumentsOf({ arguments: input }: ToolCall): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

export type Body = Readonly<Record<string, unknown>>;

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
  readonly frames: (turn: Turn) => readonly SseFrame[];
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
