// Numbered answers of a local upstream, so that a second run of a request is visible, and helpers
// to read them.
import { asksForStream, streamFrames, wholeAnswer } from './answers.ts';
import type { Client } from './endpoints.ts';
import type { Reply } from './http.ts';
import { answerJson, framesText, type Script } from './upstream.ts';

export const numberedContent = { text: 'one two three four', tokens: { input: 100, output: 20 } };

/** `gate`: holds back a whole answer, or a stream after its first word, until it opens. */
export function numberedAnswers(
  { name }: Pick<Client, 'name'>,
  {
    gate,
    text = numberedContent.text,
  }: { readonly gate?: Promise<void>; readonly text?: string } = {},
): Script {
  let count = 0;
  return async (response, request) => {
    const numbered = { ...numberedContent, text: `${text} ${++count}` };
    if (!asksForStream(request)) {
      await gate;
      return answerJson(wholeAnswer(name, numbered))(response, request);
    }
    const { start, deltas, end } = streamFrames(name, numbered);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(framesText([...start, ...deltas.slice(0, 1)]));
    await gate;
    response.end(framesText([...deltas.slice(1), ...end]));
  };
}

/** The replay of an answer: no cost, no keep-alives. */
export function asReplayed(text: string): string {
  const paid = text.replace(/"cost":[\d.]+/, '"cost":0');
  return keepAlives.reduce((rest, frame) => rest.replaceAll(frame, ''), paid);
}

/** Google's clients know no comments. */
export const keepAlives: readonly string[] = [
  ': keep-alive\n\n',
  'data: {"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0}]}\n\n',
];

/** A stream opened by a keep-alive reports failures in an event. */
export function isSuccess({ status, text }: Reply, stream: boolean): boolean {
  return (
    status === 200 &&
    (!stream || /\[DONE\]|response\.completed|message_stop|finishReason/.test(text))
  );
}
