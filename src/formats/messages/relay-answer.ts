// The straight path down: the upstream's answer as it came, under the catalogue's model id, and with a usage if it had none.
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { AnswerContext, RelayedAnswer } from '../format.ts';
import { requireMessage } from './read-answer.ts';
import { meterBlock } from './relay-meter.ts';
import { readStop } from './stop.ts';
import { readUsage, writeMessageUsage } from './usage.ts';
import { isSearchDone, readSearches } from './web-search.ts';

/** Throws UnreadableAnswer when the body is no message. An answer without usage is shown our own count, as it is charged. */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const message = requireMessage(body);
  const meter = new OutputMeter();
  for (const block of message.content) meterBlock(meter, block);
  const outputBytes = meter.bytes;
  const told = readUsage(message.usage);
  const counted = countUsage(told, { ...context, outputBytes });
  const relayed = { ...message, model: context.model };
  return {
    body: counted === told ? relayed : { ...relayed, usage: writeMessageUsage(counted) },
    usage: told,
    stop: readStop(message.stop_reason, message.stop_sequence),
    outputBytes,
    searches: readSearches(message.usage) ?? message.content.filter(isSearchDone).length,
  };
}
