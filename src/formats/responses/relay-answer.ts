// The straight path down: the upstream's response with the specification's few edits; all else is untouched.
import { countOutputBytes } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { AnswerContext, RelayedAnswer } from '../format.ts';
import { emptyReasoningItem, wantsReasoningItem } from './output-item.ts';
import { requireResponse } from './read-answer.ts';
import { inspectOutput, isReasoning, relayItem, relayResponse } from './relay-output.ts';
import { readStop } from './stop.ts';
import { readUsage, writeUsage } from './usage.ts';
import { countSearches } from './web-search.ts';

/** Throws UnreadableAnswer. An answer without usage is shown our own count, as it is charged. */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const response = requireResponse(body);
  const { content, ...has } = inspectOutput(response.output);
  const outputBytes = countOutputBytes(content);
  const told = readUsage(response.usage);
  const counted = countUsage(told, { ...context, outputBytes });
  const relayed = relayResponse(response, relayOutput(response.output, context), context);
  return {
    body: counted === told ? relayed : { ...relayed, usage: writeUsage(counted) },
    usage: told,
    stop: readStop(response, has),
    outputBytes,
    searches: countSearches(response, response.output),
  };
}

function relayOutput(output: readonly unknown[], context: AnswerContext): unknown[] {
  const items = output.map(relayItem);
  const lacksReasoning = wantsReasoningItem(context.request) && !output.some(isReasoning);
  return lacksReasoning ? [emptyReasoningItem(context), ...items] : items;
}
