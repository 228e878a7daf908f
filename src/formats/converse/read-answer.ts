// Reads a whole answer of Converse as the events of a stream.
import { AnswerCollector, type Answer } from '../../canonical/answer.ts';
import { isObject, type JsonObject, objectOf, objectsOf, textOf } from '../../lib/json.ts';
import { readInput } from '../call-arguments.ts';
import { readErrorMessage } from '../error-message.ts';
import { UnreadableAnswer } from '../format.ts';
import { AnswerReader } from './read-stream.ts';

/** Throws UnreadableAnswer when the body is no answer or the model broke off. */
export function readAnswer(body: unknown): Answer {
  const message = messageOf(body);
  if (!isObject(body) || !message)
    throw new UnreadableAnswer(readErrorMessage(body) ?? 'the answer has no message');
  const reader = new AnswerReader();
  const collector = new AnswerCollector();
  const read = (name: string, event: JsonObject) => {
    for (const each of reader.readNamed(name, event)) collector.push(each);
  };
  read('messageStart', {});
  for (const block of objectsOf(message.content)) {
    const { toolUse } = block;
    if (isObject(toolUse)) {
      read('contentBlockStart', { start: block });
      read('contentBlockDelta', { delta: { toolUse: { input: readInput(toolUse['input']) } } });
    } else read('contentBlockDelta', { delta: deltaOf(block) });
    read('contentBlockStop', {});
  }
  read('messageStop', body);
  if (!reader.hasStopped) throw new UnreadableAnswer('the answer has no stop reason');
  read('metadata', body);
  for (const event of reader.finish()) collector.push(event);
  return collector.answer!;
}

export function messageOf(body: unknown): JsonObject | null {
  const { message } = objectOf(objectOf(body)['output']);
  return isObject(message) ? message : null;
}

/** A block holds what the deltas of a stream add up to. */
function deltaOf(block: JsonObject): JsonObject {
  const { reasoningContent: reasoning, citationsContent: cited } = block;
  if (isObject(cited))
    return {
      text: objectsOf(cited.content)
        .map(({ text }) => textOf(text))
        .join(''),
    };
  if (!isObject(reasoning) || !isObject(reasoning['reasoningText'])) return block;
  return { reasoningContent: reasoning['reasoningText'] };
}
