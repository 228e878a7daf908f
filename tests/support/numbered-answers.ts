// Answers of a local upstream each of which is another, so that a second run of a request shows; and how to read what became of them.
import { setTimeout } from 'node:timers/promises';
import { streamFrames, wholeAnswer } from './answers.ts';
import type { Endpoint } from './endpoints.ts';
import type { Reply } from './http.ts';
import { answerJson, answerSse, type Script } from './upstream.ts';

export const numberedContent = { text: 'one two three four', tokens: { input: 100, output: 20 } };

export function numberedAnswers({ name }: Endpoint, { delayMs = 0, paceMs = 0, text = numberedContent.text } = {}): Script {
  let count = 0;
  return async (response, request) => {
    const numbered = { ...numberedContent, text: `${text} ${++count}` };
    await setTimeout(delayMs);
    const { start, deltas, end } = streamFrames(name, numbered);
    const isStream = (request.body as { stream?: boolean }).stream === true;
    return (isStream ? answerSse([...start, ...deltas, ...end], { paceMs }) : answerJson(wholeAnswer(name, numbered)))(
      response,
      request,
    );
  };
}

/** Slow enough for another request to come meanwhile. */
export function slowly(script: Script): Script {
  return async (response, request) => {
    await setTimeout(150);
    return script(response, request);
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
