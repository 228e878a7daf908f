// POST /v1/responses/compact: a request that always ends with a compaction trigger, and its answer
// in a shape of its own.
import { isObject, type JsonObject, listOf } from '../../lib/json.ts';
import { type AnswerContext, type ClientFormat, UnreadableAnswer } from '../format.ts';
import { responses } from './index.ts';
import { isTrigger } from './compaction.ts';

/** Responses, for clients that ask for a compaction. */
export const compactResponses: ClientFormat = {
  ...responses,
  parseRequest: (given, limits) =>
    responses.parseRequest(isObject(given) ? withTrigger(given) : given, limits),
  writeAnswer: (answer, context) => asCompaction(responses.writeAnswer(answer, context), context),
  relay: {
    ...responses.relay,
    relayAnswer(body, context) {
      const relayed = responses.relay.relayAnswer(body, context);
      return { ...relayed, body: asCompaction(relayed.body, context) };
    },
  },
};

function withTrigger(given: JsonObject): JsonObject {
  const { generate: _, input, ...body } = given;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const isComplete = !Array.isArray(items) || isTrigger(items.at(-1));
  const trigger = { type: 'compaction_trigger' };
  return { ...body, stream: false, input: isComplete ? items : [...items, trigger] };
}

/**
 * Keeps the user's own messages before the compaction, as OpenAI does. Throws UnreadableAnswer when
 * there is none: the conversation would be lost, and the answer has no status that says so.
 */
function asCompaction(
  { id, created_at: createdAt, output, usage }: JsonObject,
  { request }: AnswerContext,
): JsonObject {
  const items = listOf(output);
  const compactions = items.filter((item) => isObject(item) && item.type === 'compaction');
  if (compactions.length === 0)
    throw new UnreadableAnswer('the answer has no summary of the conversation');
  return {
    id,
    object: 'response.compaction',
    created_at: createdAt,
    output: [...userMessages(request.body['input']), ...compactions],
    usage,
  };
}

function userMessages(input: unknown): JsonObject[] {
  if (!Array.isArray(input)) return [];
  return input
    .filter((item: unknown) => isObject(item) && item.role === 'user')
    .map(({ content, ...message }: JsonObject) => ({
      ...message,
      type: 'message',
      content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : content,
    }));
}
