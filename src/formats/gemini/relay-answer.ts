// The straight path for a whole answer: the upstream's answer with the catalogue's model id and a
// usage.
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import { isObject, type JsonObject } from '../../lib/json.ts';
import { UnreadableAnswer, type AnswerContext, type RelayedAnswer } from '../format.ts';
import { shownUsage } from '../shown-usage.ts';
import { readAnswer } from './read-answer.ts';
import { candidatesOf, meterChunk, noteSearches, withoutContinuation } from './relay-meter.ts';
import { isBrokenOff } from './stop.ts';
import { readUsage, writeUsage } from './usage.ts';

/**
 * Throws UnreadableAnswer when the body is no answer. Clients know Google's words for a model that broke
 * off, so such an answer passes if Google counts it. An answer without usage gets our own count, which is
 * also what is charged.
 */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const { usageMetadata: counts } = isObject(body) ? body : {};
  const isCounted = readUsage(counts) !== null;
  const { usage: reported, stop: first } = readAnswer(body, { mayBreakOff: isCounted });
  const answer = body as JsonObject;
  const brokeOff = candidatesOf(answer)
    .map(({ finishReason }) => finishReason)
    .find(isBrokenOff);
  if (brokeOff !== undefined && !isCounted)
    throw new UnreadableAnswer(`the model broke off: ${brokeOff}`, brokeOff);
  const meter = new OutputMeter();
  meterChunk(meter, answer);
  const counted = countUsage(reported, { ...context, outputBytes: meter.bytes });
  const { usageMetadata, ...rest } = withoutContinuation(answer);
  return {
    body: {
      ...rest,
      modelVersion: context.model,
      usageMetadata: counted === reported ? shownUsage(usageMetadata) : writeUsage(counted),
    },
    usage: reported,
    stop: brokeOff === undefined ? first : { ...first, brokeOff },
    outputBytes: meter.bytes,
    searches: noteSearches(new Set(), answer),
  };
}
