// The straight path for a whole answer: the upstream's answer with the catalogue's model id and a
// usage.
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { AnswerContext, RelayedAnswer } from '../format.ts';
import { editItems } from '../edit-json.ts';
import { shownUsage } from '../shown-usage.ts';
import { requireMessage } from './read-answer.ts';
import { meterBlock } from './relay-meter.ts';
import { renameBlocks } from './relay-tool-names.ts';
import { safeguardResults } from './safeguards.ts';
import { withSignature } from './signature.ts';
import { readStop, repairReason } from './stop.ts';
import { isOpenCall } from './tool-input.ts';
import { inOwnWords, readUsage, writeMessageUsage } from './usage.ts';
import { isSearchDone, readSearches } from './web-search.ts';
import { missingHead } from './write-answer.ts';

/**
 * Throws UnreadableAnswer when the body is no message. An answer without usage gets our own count,
 * which is also what is charged.
 */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const message = requireMessage(body);
  const meter = new OutputMeter();
  for (const block of message.content) meterBlock(meter, block);
  const outputBytes = meter.bytes;
  const reported = readUsage(message.usage);
  const counted = countUsage(reported, { ...context, outputBytes });
  const usage =
    counted === reported
      ? shownUsage(inOwnWords(message.usage))
      : writeMessageUsage(counted, context.request);
  const { toolNames: names } = context;
  const reason = repairReason(message.stop_reason, message.content.some(isOpenCall));
  const named = names ? renameBlocks(message, names.toClient) : message;
  return {
    body: {
      ...named,
      content: editItems(named.content, withSignature),
      ...safeguardResults(context.request.body, message.safeguard_results),
      ...missingHead(message, context),
      model: context.model,
      usage,
      ...(reason !== message.stop_reason && { stop_reason: reason }),
    },
    usage: reported,
    stop: readStop(reason, message.stop_sequence),
    outputBytes,
    searches: readSearches(message.usage) ?? message.content.filter(isSearchDone).length,
  };
}
