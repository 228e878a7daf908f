// Answers of a local upstream each of which is another, so that a second run of a request shows; and how to read what became of them.
import { streamFrames, wholeAnswer } from './answers.ts';
import type { Endpoint } from './endpoints.ts';
import type { Reply } from './http.ts';
import { answerJson, framesText, type Script } from './upstream.ts';

export const numberedContent = { text: 'one two three four', tokens: { input: 100, output: 20 } };

/** `gate`: a whole answer, or all but the first word of a stream, comes once it has opened. */
export function numberedAnswers(
  { name }: Endpoint,
  { gate, text = numberedContent.text }: { readonly gate?: Promise<void>; readonly text?: string } = {},
): Script {
  let count = 0;
  return async (response, request) => {
    const numbered = { ...numberedContent, text: `${text} ${++count}` };
    if ((request.body as { stream?: boolean }).stream !== true) {
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

/** A stream as it is kept: without what told of its cost and of silence. */
export function withoutComment(text: string): string {
  return text.replace(/^: cost_micros=.*\n\n/m, '').replaceAll(': keep-alive\n\n', '');
}

/** A stream that a keep-alive has opened tells of its failure in an event. */
export function isSuccess({ status, text }: Reply, stream: boolean): boolean {
  return status === 200 && (!stream || /\[DONE\]|response\.completed|message_stop/.test(text));
}
