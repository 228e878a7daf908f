// Handles conversations in which the user says nothing. OpenAI's Chat accepts them. Anthropic
// refuses blank texts and an empty `messages`, Gemini empty `contents` and `parts`, Responses an
// empty `input`. And without the empty last turn, the answer before it would be continued. So a
// translated request always holds a text to answer.
import { invalidRequest, type ApiError } from '../../canonical/errors.ts';
import type { CanonicalRequest, Message, TextPart } from '../../canonical/request.ts';

/**
 * Used when the user says nothing but a user turn is required: between two answers, after the last
 * one, or before a call.
 */
export const emptyText = '(empty message)';
export const emptyTurn: Extract<Message, { role: 'user' }> = {
  role: 'user',
  content: [{ type: 'text', text: emptyText }],
};

/**
 * Removes blank texts of the user and the instructions, and messages that hold nothing else.
 * Instructions alone become the user's message. `(empty message)` follows a last answer, unless it
 * is a prefill. Throws ApiError `invalid_request` when there is nothing to answer.
 */
export function makeAnswerable({ isPrefilled, ...request }: CanonicalRequest): CanonicalRequest {
  const system = withoutBlanks(request.system);
  const messages = request.messages.map(withoutBlankTexts);
  const instructions = messages.flatMap((message) =>
    message.role === 'system' ? message.content : [],
  );
  if (messages.every((message) => message.role === 'system' || isEmptyMessage(message))) {
    const content = [...system, ...instructions];
    if (content.length > 0)
      return { ...request, system: [], messages: [{ role: 'user', content }] };
    throw nothingToAnswer('messages');
  }
  const turns = dropEmptyTurns(messages);
  if (turns.at(-1)?.role !== 'assistant') return { ...request, system, messages: turns };
  // When the begun answer was blank, the last one left is an earlier, whole answer.
  if (isPrefilled && turns.at(-1) === messages.at(-1))
    return { ...request, system, messages: turns, isPrefilled };
  return { ...request, system, messages: [...turns, emptyTurn] };
}

/** `field`: the field that holds the conversation. */
export function nothingToAnswer(field: 'messages' | 'input'): ApiError {
  return invalidRequest(
    field,
    `${field}: the conversation is empty, so there is nothing to answer; send some text`,
  );
}

/** Throws ApiError `invalid_request`: OpenAI treats a last assistant message as an earlier turn. */
export function refusePrefill({ isPrefilled, messages }: CanonicalRequest): void {
  if (!isPrefilled) return;
  throw invalidRequest(
    'messages',
    `messages[${messages.length - 1}] prefills the answer, which this model does not support; end with a user message`,
  );
}

/** Keeps an empty user turn, as a text, when the answers around it would otherwise join. */
function dropEmptyTurns(messages: readonly Message[]): Message[] {
  const turns: Message[] = [];
  let hasDroppedUser = false;
  for (const message of messages) {
    if (isEmptyMessage(message)) {
      hasDroppedUser ||= message.role === 'user';
      continue;
    }
    const isKeptApart = turns.length > 0 && turns.at(-1)!.role !== 'assistant';
    if (hasDroppedUser && message.role === 'assistant' && !isKeptApart) turns.push(emptyTurn);
    turns.push(message);
    hasDroppedUser = false;
  }
  return turns;
}

function isEmptyMessage({ role, content }: Message): boolean {
  if (role === 'assistant') return content.every((part) => part.type === 'text' && isBlank(part));
  return content.length === 0;
}

/**
 * Some models write blank texts before calls. The formats' writers decide about those of the
 * assistant.
 */
function withoutBlankTexts(message: Message): Message {
  switch (message.role) {
    case 'system':
      return { ...message, content: withoutBlanks(message.content) };
    case 'user':
      return { ...message, content: withoutBlanks(message.content) };
    default:
      return message;
  }
}

function withoutBlanks<Part extends { readonly type: string }>(
  parts: readonly (Part | TextPart)[],
): (Part | TextPart)[] {
  return parts.filter((part) => !isBlank(part));
}

function isBlank(part: { readonly type: string; readonly text?: string }): boolean {
  return part.type === 'text' && part.text?.trim() === '';
}
