// What the model of a scripted provider says in one turn, and what a wire format must know to say it and to read what came back.
import type { SseFrame } from './upstream.ts';

export type ToolCall = { readonly id: string; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
type Thought = { readonly text: string; readonly signature: string };

/** Calls or a text, after a thought perhaps. */
export type Turn = { readonly thought: Thought | null; readonly calls: readonly ToolCall[]; readonly text: string | null };

export type Body = Readonly<Record<string, unknown>>;

export type TurnFormat = {
  /** The results of the calls that the request holds too, in the order of the calls; a result without its call says so. */
  readonly readResults: (body: Body) => readonly string[];
  readonly toolNames: (body: Body) => readonly string[];
  readonly hasSchema: (body: Body) => boolean;
  readonly asksToThink: (body: Body) => boolean;
  /** What must come back of a thought. */
  readonly proof: (thought: Thought) => string;
  readonly whole: (turn: Turn) => object;
  readonly frames: (turn: Turn) => readonly SseFrame[];
};

/** Pairs calls with their results by id. */
export function pairResults(callIds: readonly string[], results: ReadonlyMap<string, string>): string[] {
  const orphans = [...results.keys()].filter((id) => !callIds.includes(id)).map((id) => `${id} has no call`);
  return [...callIds.map((id) => results.get(id) ?? `${id} has no result`), ...orphans].filter(() => results.size > 0);
}

/** Text of a result that is a string or a list of parts with text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : '';
}

/** Pieces of three characters, so that arguments are split within names, numbers and strings. */
export function piecesOf(text: string): string[] {
  return text.match(/.{1,3}/gsu) ?? [];
}

export function listOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? (value as Body[]) : [];
}
