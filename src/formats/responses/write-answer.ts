// Writes a whole answer in Responses. It equals what a streaming client would have collected, with
// one exception: the inserted reasoning item is needed here only when there is no reasoning at all,
// while a stream must decide at its first block.
import type { Answer } from '../../canonical/answer.ts';
import type { RefusalPart, TextPart } from '../../canonical/request.ts';
import type { AnswerPart } from '../../canonical/own-tools.ts';
import { countOutputBytes } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { type AnswerContext, UnreadableAnswer } from '../format.ts';
import { asksForCompaction, compactionItem, summaryIn } from './compaction.ts';
import {
  callItem,
  drawingItem,
  emptyReasoningItem,
  imageItem,
  itemId,
  messageItem,
  reasoningItem,
  refusalPart,
  searchItem,
  textPart,
  wantsReasoningItem,
  type ItemStatus,
} from './output-item.ts';
import { shownTier } from '../service-tiers.ts';
import { writeResponse } from './response-body.ts';
import type { ResponsesRequest } from './schema.ts';
import { type EndStatus, writeStop } from './stop.ts';
import { toolNamesOf } from './tool-names.ts';
import { writeUsage } from './usage.ts';

/** An answer without usage gets our own count, which is also what is charged. */
export function writeAnswer(answer: Answer<AnswerPart>, context: AnswerContext): JsonObject {
  const end = writeStop(
    answer.stop,
    answer.content.some((part) => part.type === 'refusal'),
  );
  const usage = countUsage(answer.usage, {
    ...context,
    outputBytes: countOutputBytes(answer.content),
  });
  return writeResponse(context, {
    ...end,
    output: asksForCompaction(context.request.body)
      ? writeCompaction(answer.content, end, context)
      : writeOutput(answer.content, context, end.status),
    usage: writeUsage(usage),
    tier: shownTier(usage, context.request),
  });
}

/**
 * Returns the one item of a compaction; none when the answer was cut before its summary. Throws
 * UnreadableAnswer when the model wrote none.
 */
export function writeCompaction(
  content: readonly AnswerPart[],
  { status }: EndStatus,
  context: AnswerContext,
): JsonObject[] {
  const summary = summaryIn(content);
  if (summary !== '') return [compactionItem(itemId('cmp', context, 0), summary)];
  if (status === 'incomplete') return [];
  throw new UnreadableAnswer('the model wrote no summary of the conversation');
}

type Group = readonly (TextPart | RefusalPart)[] | Exclude<AnswerPart, TextPart | RefusalPart>;

/** `lastStatus`: only the last item of a cut answer is incomplete. */
function writeOutput(
  content: readonly AnswerPart[],
  context: AnswerContext,
  lastStatus: ItemStatus,
): JsonObject[] {
  const output: JsonObject[] = [];
  const hasThinking = content.some((part) => part.type === 'thinking');
  if (wantsReasoningItem(context.request) && !hasThinking) output.push(emptyReasoningItem(context));
  const groups = groupParts(content);
  for (const [index, group] of groups.entries()) {
    output.push(
      writeItem(
        group,
        output.length,
        context,
        index === groups.length - 1 ? lastStatus : 'completed',
      ),
    );
  }
  return output;
}

/** Consecutive texts and refusals are the parts of one message. */
function groupParts(content: readonly AnswerPart[]): Group[] {
  const groups: Group[] = [];
  let message: (TextPart | RefusalPart)[] | null = null;
  for (const part of content) {
    if (part.type !== 'text' && part.type !== 'refusal') {
      message = null;
      groups.push(part);
    } else if (message) {
      message.push(part);
    } else {
      message = [part];
      groups.push(message);
    }
  }
  return groups;
}

function writeItem(
  group: Group,
  outputIndex: number,
  context: AnswerContext,
  status: ItemStatus,
): JsonObject {
  if (!('type' in group)) {
    const parts = group.map((part) =>
      part.type === 'text' ? textPart(part) : refusalPart(part.text),
    );
    return messageItem(itemId('msg', context, outputIndex), parts, status);
  }
  if (group.type === 'image') return imageItem(itemId('ig', context, outputIndex), group.source);
  if (group.type === 'drawing')
    return drawingItem(itemId('ig', context, outputIndex), group.prompt, group.drawn);
  if (group.type === 'search')
    return searchItem(itemId('ws', context, outputIndex), group.query, group.found);
  if (group.type === 'thinking') return reasoningItem(itemId('rs', context, outputIndex), group);
  const origin = toolNamesOf(context.request.body as ResponsesRequest).originOf(group.name);
  return callItem(group, { status, origin, context, outputIndex });
}
