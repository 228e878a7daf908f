// Gathers messages into a conversation. Messages grow in place: a copy for each of forty thousand
// items took half a minute.
import type { Message, TextPart, ToolResultPart, UserPart } from '../../canonical/request.ts';
import { append } from '../../lib/append.ts';

export type Conversation = {
  /** The instructions before everything else. */
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
};

/** Neighbouring answers become one message, and neighbouring results. */
export function gatherConversation(messages: readonly Message[]): Conversation {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const turns = first === -1 ? messages.length : first;
  return {
    system: messages.slice(0, turns).flatMap((message) => message.content as readonly TextPart[]),
    messages: joinNeighbours(markAnswers(messages.slice(turns)), ['assistant', 'tool']),
  };
}

/** Marks the text at which an answer begins behind another text, before they become one message. */
export function markAnswers(messages: readonly Message[]): Message[] {
  return messages.map((message, index) => {
    const before = messages[index - 1];
    if (message.role !== 'assistant' || before?.role !== 'assistant') return message;
    const [first, ...others] = message.content;
    if (first?.type !== 'text' || before.content.at(-1)?.type !== 'text') return message;
    return { ...message, content: [{ ...first, beginsAnswer: true }, ...others] };
  });
}

type AnyMessage = { readonly role?: unknown; readonly content?: unknown };

/** Joins neighbouring messages of these roles. Their content must be a list. */
export function joinNeighbours<M extends AnyMessage>(
  messages: readonly M[],
  roles: readonly unknown[],
): M[] {
  const joined: M[] = [];
  for (const message of messages) {
    const { role, content } = message as AnyMessage & { readonly content: readonly unknown[] };
    const last = joined.at(-1);
    if (!roles.includes(role)) joined.push(message);
    else if (last && last.role === role) append(last.content as unknown[], content);
    else joined.push({ ...message, content: [...content] });
  }
  return joined;
}

/** A user's turn of formats that have results in it: they come first, as answers to the calls before. */
export function userTurn(
  results: readonly ToolResultPart[],
  parts: readonly UserPart[],
): Message[] {
  return [
    ...(results.length > 0 ? [{ role: 'tool', content: results } as const] : []),
    ...(parts.length > 0 || results.length === 0
      ? [{ role: 'user', content: parts } as const]
      : []),
  ];
}
