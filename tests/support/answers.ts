// Provider answers in the wire formats, whole and streamed, built from a text and its usage.
import type { UpstreamFormatName } from '../../src/terms/format-name.ts';
import type { Tokens, TurnFormat } from './turn-format.ts';
import { chatTurns } from './turns-chat.ts';
import { converseTurns } from './turns-converse.ts';
import { geminiTurns } from './turns-gemini.ts';
import { messagesTurns } from './turns-messages.ts';
import { responsesTurns } from './turns-responses.ts';
import { answerJson, answerSse, type Script, type SseFrame } from './upstream.ts';

export type Content = { readonly text: string; readonly tokens: Tokens | null };

export type WireName = 'responses' | 'chat' | 'messages';
/** The upstream formats whose streams are server-sent events. */
export type UpstreamWireName = WireName | 'gemini';

/** The frames of a stream, split where tests cut it. */
export type StreamFrames = {
  readonly start: readonly SseFrame[];
  /** One frame per word. */
  readonly deltas: readonly SseFrame[];
  readonly end: readonly SseFrame[];
};

export const turnFormats = {
  responses: responsesTurns,
  chat: chatTurns,
  messages: messagesTurns,
  gemini: geminiTurns,
  converse: converseTurns,
} as const satisfies Record<UpstreamFormatName, TurnFormat>;

export function wholeAnswer(wire: UpstreamFormatName, content: Content): object {
  return turnFormats[wire].whole({ ...content, thought: null, calls: [] });
}

export function streamFrames(wire: UpstreamFormatName, content: Content): StreamFrames {
  const { frames, openingFrames } = turnFormats[wire];
  const words = wordsOf(content.text);
  const all = frames({ ...content, thought: null, calls: [] }, () => words);
  const deltasEnd = openingFrames + words.length;
  return {
    start: all.slice(0, openingFrames),
    deltas: all.slice(openingFrames, deltasEnd),
    end: all.slice(deltasEnd),
  };
}

/** Plays the content as a whole answer or as a stream, as the request asks. */
export function answerContent(
  wire: UpstreamWireName,
  content: Content,
  { paceMs = 0 }: { paceMs?: number } = {},
): Script {
  const whole = answerJson(wholeAnswer(wire, content));
  const { start, deltas, end } = streamFrames(wire, content);
  const stream = answerSse([...start, ...deltas, ...end], { paceMs });
  return (response, request) => (asksForStream(request) ? stream : whole)(response, request);
}

/** A Gemini request asks for a stream in its path. */
export function asksForStream({ path, body }: Parameters<Script>[1]): boolean {
  return path.endsWith(':streamGenerateContent') || (body as { stream?: boolean }).stream === true;
}

function wordsOf(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}
