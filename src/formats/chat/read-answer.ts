// Reads a whole upstream answer.
import type { Answer } from '../../canonical/answer.ts';
import type { UrlCitation } from '../../canonical/citation.ts';
import { OutputMeter } from '../../canonical/output-bytes.ts';
import type { AssistantPart, TextPart, ToolCallPart } from '../../canonical/request.ts';
import { append } from '../../lib/append.ts';
import { newIdWithPrefix } from '../../lib/ids.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../../lib/json.ts';
import { plainArguments } from '../call-arguments.ts';
import { BrokenOffAnswer, UnreadableAnswer } from '../format.ts';
import { findCallSignatures, readCallSignature } from './call-signatures.ts';
import { callsOf, readCallPiece } from './call-pieces.ts';
import { citationInBlock, readAnnotations, readSources } from './citations.ts';
import { readText, readThinkingInContent } from './content.ts';
import { readImages } from './images.ts';
import { readErrorMessage } from '../error-message.ts';
import { requireObjects } from '../require-objects.ts';
import { readReasoning, unsignedThinking } from './reasoning.ts';
import { meterMessage } from './relay-meter.ts';
import { isCutShort, readBreak, readStop } from './stop.ts';
import { insertThinking, type PlacedThinking } from './thinking-places.ts';
import { splitThoughts } from './think-tags.ts';
import { readUsage } from './usage.ts';

/** Reads the first choice: translation never asks for more. */
export function readAnswer(body: unknown): Answer {
  const { answer, choices } = checkAnswer(body);
  const choice = firstChoice(joinChoices(choices));
  const content = readMessage(choice.message, readSources(answer));
  const stop = readStop(choice.finish_reason, {
    hasToolCalls: content.some((part) => part.type === 'tool-call'),
    hasRefusal: content.some((part) => part.type === 'refusal'),
  });
  return { content, stop, usage: readUsage(answer) };
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

/** `sources`: the pages that the answer lists beside the message. */
function readMessage(message: JsonObject, sources: readonly UrlCitation[]): AssistantPart[] {
  const { thinking, text, textStart } = readWords(message);
  const parts: AssistantPart[] = [];
  const annotations = readAnnotations(message.annotations).map((citation) =>
    citationInBlock(citation, textStart),
  );
  if (text !== '') parts.push(textPartOf(text, annotations, sources));
  if (typeof message.refusal === 'string' && message.refusal !== '')
    parts.push({ type: 'refusal', text: message.refusal });
  append(parts, readToolCalls(callsOf(message), thinking));
  append(
    parts,
    readImages(message).map((source) => ({ type: 'image' as const, source })),
  );
  return insertThinking(thinking, parts);
}

function textPartOf(
  text: string,
  annotations: readonly UrlCitation[],
  sources: readonly UrlCitation[],
): TextPart {
  const citations = annotations.length > 0 ? annotations : sources;
  return citations.length > 0 ? { type: 'text', text, citations } : { type: 'text', text };
}

type Words = {
  readonly thinking: readonly PlacedThinking[];
  readonly text: string;
  /** Where the text begins in the message's content, to which citations refer. */
  readonly textStart: number;
};

function readWords(message: JsonObject): Words {
  const thought = readThinkingInContent(message.content);
  const blocks = readReasoning(message);
  const whole = readText(message.content);
  if (blocks.length > 0) return { thinking: blocks, text: whole, textStart: 0 };
  if (thought !== '') return { thinking: [unsignedThinking(thought)], text: whole, textStart: 0 };
  const { thinking, text } = splitThoughts(whole);
  return {
    thinking: thinking === '' ? [] : [unsignedThinking(thinking)],
    text,
    textStart: whole.length - text.length,
  };
}

/**
 * Reads each call, after the signature beside it, unless the reasoning has already brought that
 * signature.
 */
function readToolCalls(
  calls: readonly unknown[],
  reasoning: readonly PlacedThinking[],
): AssistantPart[] {
  const known = findCallSignatures(reasoning.map(({ part }) => part));
  return calls.flatMap((call): AssistantPart[] => {
    const read = readToolCall(call);
    return known.has(read.id) || !isObject(call)
      ? [read]
      : [...readCallSignature(call, read.id), read];
  });
}

function readToolCall(call: unknown): ToolCallPart {
  const { id, name, kind, text } = readCallPiece(objectOf(call));
  if (name === '') throw new UnreadableAnswer('a tool call of the answer has no name');
  return {
    type: 'tool-call',
    id: id || newIdWithPrefix('call'),
    name,
    arguments: kind === 'custom' ? text : plainArguments(text),
    kind,
  };
}
