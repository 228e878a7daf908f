// Reads an upstream's whole answer: a stream of one chunk.
import { AnswerCollector, type Answer } from '../../canonical/answer.ts';
import { isObject } from '../../lib/json.ts';
import { readErrorMessage } from '../error-message.ts';
import { UnreadableAnswer } from '../format.ts';
import { AnswerReader } from './read-stream.ts';

/** Throws UnreadableAnswer when the body is no answer or the model broke off, unless it may. */
export function readAnswer(body: unknown, { mayBreakOff = false } = {}): Answer {
  if (!isObject(body)) throw new UnreadableAnswer('the answer is not a JSON object');
  if (body.error) throw new UnreadableAnswer(readErrorMessage(body) ?? 'the answer is an error');
  const reader = new AnswerReader();
  const collector = new AnswerCollector();
  for (const event of reader.readChunk(body)) collector.push(event);
  if (!reader.hasStopped) throw new UnreadableAnswer('the answer has no finish reason');
  for (const event of reader.finish({ mayBreakOff })) collector.push(event);
  return collector.answer!;
}
