// Reads a whole upstream answer: a stream of one delta, but for the reasoning, which has places in it.
import { AnswerCollector, type Answer } from '../../canonical/answer.ts';
import { OutputMeter } from '../../canonical/output-bytes.ts';
import { isObject, type JsonObject, listOf } from '../../lib/json.ts';
import { BrokenOffAnswer, UnreadableAnswer } from '../format.ts';
import { callsOf } from './call-pieces.ts';
import { readErrorMessage } from '../error-message.ts';
import { requireObjects } from '../require-objects.ts';
import { ChatStreamReader } from './read-stream.ts';
import { readReasoning } from './reasoning.ts';
import { meterMessage } from './relay-meter.ts';
import { isCutShort, readBreak } from './stop.ts';
import { insertThinking } from './thinking-places.ts';

/** Reads the first choice: translation never asks for more. */
export function readAnswer(body: unknown): Answer {
  const { answer, choices } = checkAnswer(body);
  const choice = firstChoice(joinChoices(choices));
  const thinking = readReasoning(choice.message);
  const collector = new AnswerCollector();
  const events = new ChatStreamReader().readWhole(answer, choice, thinking);
  for (const event of events) collector.push(event);
  const { content, ...rest } = collector.answer!;
  return { content: insertThinking(thinking, content), ...rest };
}

/** Returns the choice with index 0, at any position. */
export function firstChoice(choices: readonly Choice[]): Choice {
  return choices.find((candidate) => (candidate.index ?? 0) === 0) ?? choices[0]!;
}

/**
 * GitHub Copilot puts the text and the calls of one answer into two choices
 * (github.com/ericc-ch/copilot-api/pull/81, read 2026-11-30): they are joined. Returns the same list
 * when the first choice has calls, or none has.
 */
export function joinChoices(choices: readonly Choice[]): readonly Choice[] {
  const first = firstChoice(choices);
  const calls = choices.flatMap(({ message }) => callsOf(message));
  if (calls.length === 0 || callsOf(first.message).length > 0) return choices;
  return [{ ...first, message: { ...first.message, tool_calls: calls } }];
}

export type Choice = JsonObject & { readonly message: JsonObject };

/**
 * Checks what every answer must have, also on the straight path. Some hosts report an error under
 * HTTP 200.
 */
export function checkAnswer(body: unknown): {
  readonly answer: JsonObject;
  readonly choices: readonly Choice[];
} {
  if (!isObject(body)) throw new UnreadableAnswer('the answer is not a JSON object');
  if (body.error) throw new UnreadableAnswer(readErrorMessage(body) ?? 'the answer is an error');
  const choices = listOf(body.choices).map(withMessage);
  if (choices.length === 0) throw new UnreadableAnswer('the answer has no choices');
  if (!choices.every(isChoice)) throw new UnreadableAnswer('a choice of the answer has no message');
  for (const { message } of choices) {
    requireObjects(message.content, '`content`');
    requireObjects(message.tool_calls, '`tool_calls`');
  }
  for (const choice of choices) {
    const isEmpty = !hasOutput(choice.message);
    const broken = readBreak(choice, !isEmpty);
    const Failure = isEmpty ? BrokenOffAnswer : UnreadableAnswer;
    if (broken !== null) throw new Failure(`the answer broke off: finish_reason ${broken}`);
  }
  return { answer: body, choices };
}

function hasOutput(message: JsonObject): boolean {
  const meter = new OutputMeter();
  meterMessage(meter, message);
  return meter.bytes > 0 || callsOf(message).length > 0;
}

/**
 * Azure leaves out the message of a choice that its filter emptied. The answer ran and is billed
 * anyway.
 */
function withMessage(choice: unknown): unknown {
  if (!isObject(choice) || (choice.message ?? null) !== null || !isCutShort(choice.finish_reason))
    return choice;
  return { ...choice, message: { role: 'assistant', content: null, refusal: null } };
}

function isChoice(choice: unknown): choice is Choice {
  return isObject(choice) && isObject(choice.message);
}
