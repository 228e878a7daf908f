// The straight path down, for a whole answer: everything of the upstream's stays but the model's name.
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { AnswerContext, RelayedAnswer } from '../format.ts';
import { checkAnswer, type Choice, firstChoice } from './read-answer.ts';
import { meterMessage } from './relay-meter.ts';
import { readStop } from './stop.ts';
import { readUsage, writeUsage } from './usage.ts';
import { countSearches } from './web-search.ts';

/** Throws UnreadableAnswer. */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const { answer, choices } = checkAnswer(body);
  const meter = new OutputMeter();
  for (const { message } of choices) meterMessage(meter, message);
  const outputBytes = meter.bytes;
  const told = readUsage(answer.usage);
  const counted = countUsage(told, { ...context, outputBytes });
  return {
    body: {
      ...answer,
      model: context.model,
      usage: counted === told ? answer.usage : writeUsage(counted),
    },
    usage: told,
    stop: readChoiceStop(firstChoice(choices)),
    outputBytes,
    searches: countSearches(context.request),
  };
}

function readChoiceStop({ message, finish_reason: finishReason }: Choice) {
  return readStop(finishReason, {
    hasToolCalls: Array.isArray(message.tool_calls) && message.tool_calls.length > 0,
    hasRefusal: typeof message.refusal === 'string' && message.refusal !== '',
  });
}
