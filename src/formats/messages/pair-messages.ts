// Puts results where Anthropic wants them on the straight path: first in the turn behind their calls.
import type { JsonObject } from '../../lib/json.ts';
import { joinNeighbours } from '../adapting/conversation.ts';
import { pairResults, partsOf, type ResultShape, type Step } from '../adapting/paired-results.ts';

/**
 * Returns the same list when every call has its result in place. Anthropic joins neighbouring
 * messages of one role, so they are looked at as one.
 */
export function pairMessages(messages: readonly JsonObject[]): readonly JsonObject[] {
  const inBlocks = messages.map((message) => ({ ...message, content: partsOf(message.content) }));
  const turns = joinNeighbours<JsonObject>(inBlocks, ['assistant']);
  const paired = pairResults(turns.flatMap(stepsOf), toolResult)?.map(asMessage);
  return paired ? joinNeighbours(paired, ['user']) : messages;
}

function stepsOf(message: JsonObject): Step[] {
  const blocks = message.content as readonly JsonObject[];
  if (message.role === 'assistant') {
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => String(id));
    return [{ item: message, calls, answers: null }];
  }
  if (!blocks.some(isResult)) return [{ item: message, calls: [], answers: null }];
  return blocks.map((block) => ({
    item: isResult(block) ? block : { ...message, content: [block] },
    calls: [],
    answers: isResult(block) ? String(block.tool_use_id) : null,
  }));
}

function isResult({ type }: JsonObject): boolean {
  return type === 'tool_result';
}

const toolResult: ResultShape = {
  field: 'content',
  textType: 'text',
  write: (callId, content) => ({ type: 'tool_result', tool_use_id: callId, content }),
};

function asMessage(item: JsonObject): JsonObject {
  return isResult(item) ? { role: 'user', content: [item] } : item;
}
