// The straight path for a whole answer: sets the model's name, repairs calls, restores tool names
// and removes the upstream's price.
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import type { AnswerContext, RelayedAnswer } from '../format.ts';
import { checkAnswer, type Choice, firstChoice } from './read-answer.ts';
import { callIdPrefix, repairCalls } from './relay-calls.ts';
import { meterMessage } from './relay-meter.ts';
import { relayedNames, renameCalls } from './relay-tool-names.ts';
import { readStop } from './stop.ts';
import { readUsage, showUsage } from './usage.ts';
import { countSearches } from './web-search.ts';

/** Throws UnreadableAnswer. */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const { answer, choices: given } = checkAnswer(body);
  const choices = given.map((choice, index) => {
    const message = repairCalls(choice.message, callIdPrefix(context, index));
    return { ...choice, message };
  });
  const meter = new OutputMeter();
  for (const { message } of given) meterMessage(meter, message);
  const outputBytes = meter.bytes;
  const reported = readUsage(answer);
  const counted = countUsage(reported, { ...context, outputBytes });
  const names = relayedNames(context.request.body);
  return {
    body: {
      ...answer,
      choices: names
        ? choices.map((choice) => ({
            ...choice,
            message: renameCalls(choice.message, names.toClient),
          }))
        : choices,
      model: context.model,
      usage: showUsage(answer.usage, counted),
    },
    usage: reported,
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
