// Answers of Cohere's own Chat, as recorded: what is billed is less than what the model read.
import type { StreamFrames } from './answers.ts';
import { answerBytes, answerJson, framesText, type Script, type SseFrame } from './upstream.ts';

type Content = {
  readonly text: string;
  readonly tokens: { readonly input: number; readonly output: number } | null;
};

const usageOf = ({ tokens }: Content) =>
  tokens && {
    usage: {
      billed_units: { input_tokens: tokens.input, output_tokens: tokens.output },
      tokens: { input_tokens: tokens.input + 500, output_tokens: tokens.output + 3 },
      cached_tokens: 448,
    },
  };

export function cohereWhole(content: Content): object {
  const message = { role: 'assistant', content: [{ type: 'text', text: content.text }] };
  return { id: 'i', message, finish_reason: 'COMPLETE', ...usageOf(content) };
}

export function cohereFrames(content: Content): StreamFrames {
  const say = (text: string) => ({ index: 0, delta: { message: { content: { text } } } });
  const start = { index: 0, delta: { message: { content: { type: 'text', text: '' } } } };
  const end = { delta: { finish_reason: 'COMPLETE', ...usageOf(content) } };
  return {
    start: [
      frameOf('message-start', { id: 'i', delta: { message: { role: 'assistant' } } }),
      frameOf('content-start', start),
    ],
    deltas: (content.text.match(/\s*\S+/g) ?? []).map((word) =>
      frameOf('content-delta', say(word)),
    ),
    end: [frameOf('content-end', { index: 0 }), frameOf('message-end', end), 'data: [DONE]\n\n'],
  };
}

/** Each is one event. */
export function coherePieces(content: Content): readonly Buffer[] {
  const { start, deltas, end } = cohereFrames(content);
  return [...start, ...deltas, ...end].map((frame) => Buffer.from(framesText([frame])));
}

export function pieceOf(type: string, event: object): Buffer {
  return Buffer.from(framesText([frameOf(type, event)]));
}

function frameOf(type: string, event: object): SseFrame {
  return { event: type, data: { type, ...event } };
}

export function answerAsCohere(content: Content): Script {
  const stream = answerBytes(Buffer.concat(coherePieces(content)), {
    headers: { 'content-type': 'text/event-stream' },
  });
  const whole = answerJson(cohereWhole(content));
  return (response, request) =>
    ((request.body as { stream?: boolean }).stream ? stream : whole)(response, request);
}
