// The straight path for a whole answer: sets the model's name, repairs calls and finish reasons,
// fills required fields, restores tool names and removes the upstream's price.
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { countUsage } from '../../canonical/usage.ts';
import { missingFields } from '../edit-json.ts';
import type { AnswerContext, RelayedAnswer } from '../format.ts';
import { withPlainContent } from './content.ts';
import { checkAnswer, type Choice, firstChoice, joinChoices } from './read-answer.ts';
import { callIdPrefix, repairCalls } from './relay-calls.ts';
import { ChoiceContent } from './relay-choice.ts';
import { meterMessage } from './relay-meter.ts';
import { renameCalls } from './relay-tool-names.ts';
import { readFinishReason } from './stop.ts';
import { readUsage, showUsage, usageOf } from './usage.ts';
import { countSearches } from './web-search.ts';
import { completionHead } from './write-answer.ts';

/** Throws UnreadableAnswer. */
export function relayAnswer(body: unknown, context: AnswerContext): RelayedAnswer {
  const { answer, choices: read } = checkAnswer(body);
  const given = context.request.choices === 1 ? joinChoices(read) : read;
  const choices = given.map((choice, index) => repairChoice(choice, index, context));
  const meter = new OutputMeter();
  for (const { message } of given) meterMessage(meter, message);
  const outputBytes = meter.bytes;
  const reported = readUsage(answer);
  const counted = countUsage(reported, { ...context, outputBytes });
  const { toolNames: names } = context;
  return {
    body: {
      ...answer,
      ...missingFields(answer, completionHead(context)),
      choices: names
        ? choices.map((choice) => ({
            ...choice,
            message: renameCalls(choice.message, names.toClient),
          }))
        : choices,
      model: context.model,
      usage: showUsage(usageOf(answer), counted),
    },
    usage: reported,
    stop: contentOf(firstChoice(given)).stop,
    outputBytes,
    searches: countSearches(context.request),
  };
}

/** Fills what the official types require, and writes the finish reason in OpenAI's words. */
function repairChoice(choice: Choice, position: number, context: AnswerContext): Choice {
  const message = withPlainContent(choice.message);
  return {
    ...choice,
    index: typeof choice.index === 'number' ? choice.index : position,
    message: repairCalls(
      { ...message, role: 'assistant', content: message.content ?? null },
      callIdPrefix(context, position),
    ),
    finish_reason: contentOf(choice).finishReason,
  };
}

function contentOf({ message, finish_reason: reason }: Choice): ChoiceContent {
  const content = new ChoiceContent();
  content.note(message);
  content.reason = readFinishReason(reason);
  return content;
}
