// The straight path for a whole answer: the upstream's response with the few edits of
// relay-output.ts.
import { countOutputBytes } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { AnswerContext, RelayedAnswer } from '../format.ts';
import type { ToolNames } from '../tool-names.ts';
import { emptyReasoningItem, wantsReasoningItem } from './output-item.ts';
import { requireResponse } from './read-answer.ts';
import { inspectOutput, isReasoning, relayItem, relayResponse } from './relay-output.ts';
import { readStop } from './stop.ts';
import { readUsage, writeUsage } from './usage.ts';
import { countSearches } from './web-search.ts';

/**
 * Throws UnreadableAnswer. An answer without usage gets our own count, which is also what is
 * charged.
 */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const response = requireResponse(body);
  const { content, ...has } = inspectOutput(response.output);
  const outputBytes = countOutputBytes(content);
  const reported = readUsage(response);
  const counted = countUsage(reported, { ...context, outputBytes });
  const { toolNames: names = null } = context;
  const relayed = relayResponse(response, relayOutput(response.output, context, names), {
    context,
    names,
  });
  return {
    body: { ...relayed, usage: counted === reported ? relayed.usage : writeUsage(counted) },
    usage: reported,
    stop: readStop(response, has),
    outputBytes,
    searches: countSearches(response, response.output),
  };
}

function relayOutput(
  output: readonly unknown[],
  context: AnswerContext,
  names: ToolNames | null,
): unknown[] {
  const items = output.map((item) => relayItem(item, names));
  const lacksReasoning = wantsReasoningItem(context.request) && !output.some(isReasoning);
  return lacksReasoning ? [emptyReasoningItem(context), ...items] : items;
}
