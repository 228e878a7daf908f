// Reads the kept bodies of a request. They may be cut, or be no valid request at all.
import { createParser } from 'eventsource-parser';
import type { RequestBodies } from '../../../src/management/contract/requests.ts';
import { errorOf, fieldsOf, parseObject } from './fields.ts';
import { readBody } from './read-body.ts';
import { noAnswer, type Answer, type ChatFormat, type ReadRequest } from './types.ts';

type Kept = NonNullable<RequestBodies['kept']>;

/** Returns null for a body that is not there, or cannot be read. */
export function readKept(
  format: ChatFormat,
  { request, answer, streamed }: Omit<Kept, 'expires_at'>,
): { readonly request: ReadRequest | null; readonly answer: Answer | null } {
  const body = request && parseObject(request.text);
  return {
    request: body && readBody(format, body),
    answer: answer && (streamed ? readStream : readWhole)(format, answer.text),
  };
}

function readWhole(format: ChatFormat, text: string): Answer | null {
  const body = parseObject(text);
  if (!body) return null;
  const answer = format.readAnswer(body);
  return fieldsOf(body)['error'] ? { ...answer, error: errorOf(body['error']) } : answer;
}

function readStream(format: ChatFormat, text: string): Answer {
  let answer = noAnswer;
  const parser = createParser({
    onEvent({ event = '', data }) {
      const fields = parseObject(data);
      if (fields) answer = format.readEvent(answer, event, fields);
    },
  });
  parser.feed(text);
  return answer;
}
