// Answers of Cohere's own Chat, as recorded: what is billed is less than what the model read.
import { formatSse } from '../../src/lib/sse.ts';
import { answerBytes, answerJson, type Script } from './upstream.ts';

type Content = {
  readonly text: string;
  readonly tokens: { readonly input: number; readonly output: number };
};

const usageOf = ({ tokens: { input, output } }: Content) => ({
  billed_units: { input_tokens: input, output_tokens: output },
  tokens: { input_tokens: input + 500, output_tokens: output + 3 },
  cached_tokens: 448,
});

export function cohereWhole(content: Content): object {
  const message = { role: 'assistant', content: [{ type: 'text', text: content.text }] };
  return { id: 'i', message, finish_reason: 'COMPLETE', usage: usageOf(content) };
}

/** Each is one event. */
export function coherePieces(content: Content): readonly Buffer[] {
  const say = (text: string) => ({ index: 0, delta: { message: { content: { text } } } });
  const start = { index: 0, delta: { message: { content: { type: 'text', text: '' } } } };
  const end = { delta: { finish_reason: 'COMPLETE', usage: usageOf(content) } };
  return [
    pieceOf('message-start', { id: 'i', delta: { message: { role: 'assistant' } } }),
    pieceOf('content-start', start),
    ...content.text.split(/(?= )/).map((word) => pieceOf('content-delta', say(word))),
    pieceOf('content-end', { index: 0 }),
    pieceOf('message-end', end),
    Buffer.from('data: [DONE]\n\n'),
  ];
}

export function pieceOf(type: string, event: object): Buffer {
  return Buffer.from(formatSse(type, JSON.stringify({ type, ...event })));
}

export function answerAsCohere(content: Content): Script {
  const stream = answerBytes(Buffer.concat(coherePieces(content)), {
    headers: { 'content-type': 'text/event-stream' },
  });
  const whole = answerJson(cohereWhole(content));
  return (response, request) =>
    ((request.body as { stream?: boolean }).stream ? stream : whole)(response, request);
}
