// Repairs the conversation of a translated request: what was said, called and answered is in an order
// that every vendor accepts. The straight paths make the same repairs in their own format.
import type { CanonicalRequest, Message } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { makeAnswerable } from './answerable.ts';
import { separateCalls } from './consistent-calls.ts';
import { joinNeighbours } from './conversation.ts';
import { pairResults, type ResultShape, type Step } from './paired-results.ts';

/**
 * OpenAI refuses results behind two answers; every other vendor joins these. Throws ApiError
 * `invalid_request` when there is nothing to answer.
 */
export function repairConversation({
  isPrefilled,
  ...request
}: CanonicalRequest): CanonicalRequest {
  const turns = joinNeighbours(request.messages, ['assistant', 'tool']);
  const paired = pairResults(turns.flatMap(stepsOf), canonicalResult)?.map(asMessage);
  const messages = paired ? joinNeighbours(paired, ['tool']) : turns;
  const isContinued = isPrefilled && messages.at(-1)?.role === 'assistant';
  return makeAnswerable(
    separateCalls({ ...request, messages, ...(isContinued && { isPrefilled }) }),
  );
}

function stepsOf(message: Message): Step[] {
  if (message.role === 'tool')
    return message.content.map((item) => ({ item, calls: [], answers: item.callId }));
  const isAnswer = message.role === 'assistant';
  const calls = isAnswer
    ? message.content.flatMap((part) => (part.type === 'tool-call' ? part.id : []))
    : [];
  return [{ item: message, calls, answers: null }];
}

const canonicalResult: ResultShape = {
  field: 'content',
  textType: 'text',
  write: (callId, content) => ({ type: 'tool-result', callId, content, isError: false }),
};

function asMessage(item: JsonObject): Message {
  return (item.type === 'tool-result' ? { role: 'tool', content: [item] } : item) as Message;
}
