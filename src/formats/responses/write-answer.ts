// Writes a whole answer in Responses. It equals what a streaming client would have collected, with
// one exception: the inserted reasoning item is needed here only when there is no reasoning at all,
// while a stream must decide at its first block.
import { eventsOfPart, type Answer } from '../../canonical/answer.ts';
import type { AnswerPart } from '../../canonical/own-tools.ts';
import { countOutputBytes } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { JsonObject } from '../../lib/json.ts';
import { type AnswerContext, UnreadableAnswer } from '../format.ts';
import { asksForCompaction, compactionItem, summaryIn } from './compaction.ts';
import { emptyReasoningItem, itemId, wantsReasoningItem, type ItemStatus } from './output-item.ts';
import { shownTier } from '../service-tiers.ts';
import { writeResponse } from './response-body.ts';
import { type EndStatus, writeStop } from './stop.ts';
import { writeUsage } from './usage.ts';
import { createItem, type BlockStart } from './write-stream-item.ts';

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
function groupParts(content: readonly AnswerPart[]): AnswerPart[][] {
  const isOfMessage = (part?: AnswerPart) => part?.type === 'text' || part?.type === 'refusal';
  const groups: AnswerPart[][] = [];
  for (const part of content) {
    const last = groups.at(-1);
    if (last && isOfMessage(last[0]) && isOfMessage(part)) last.push(part);
    else groups.push([part]);
  }
  return groups;
}

/** Writes an item as its stream would. */
function writeItem(
  group: readonly AnswerPart[],
  outputIndex: number,
  context: AnswerContext,
  status: ItemStatus,
): JsonObject {
  const events = group.flatMap((part) => [...eventsOfPart(part)]);
  const item = createItem(events[0] as BlockStart, context, outputIndex);
  for (const event of events) item.write(event);
  return item.finish(status);
}
