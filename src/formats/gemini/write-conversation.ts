// Writes the conversation as Gemini wants it: user and model turns alternate; a user turn begins
// with the tool results, in the order of the calls. Instructions are in one place, before
// everything.
import { invalidRequest } from '../../canonical/errors.ts';
import type { CanonicalRequest, TextPart, UserPart } from '../../canonical/request.ts';
import { markInstruction } from '../../canonical/marked-instruction.ts';
import { append } from '../../lib/append.ts';
import { emptyTurn } from '../adapting/answerable.ts';
import { addToTurn, type Turn } from '../adapting/turns.ts';
import type { JsonObject } from '../../lib/json.ts';
import { writeDocument, writeMedia } from './media.ts';
import type { ModelTraits } from './model-traits.ts';
import { writeModelParts } from './write-model-parts.ts';
import { writeResults, type CallNames } from './write-results.ts';

type WrittenContents = {
  readonly systemInstruction: JsonObject | null;
  readonly contents: readonly JsonObject[];
};

/**
 * Adds what is left out to `ignored`. Throws ApiError on a prefill that the model does not support.
 */
export function writeConversation(
  request: CanonicalRequest,
  traits: ModelTraits,
  ignored: Set<string>,
): WrittenContents {
  noteLosses(request, ignored);
  const instructions = request.system.flatMap(writeText);
  const turns: Turn<'user' | 'model'>[] = [];
  const names: CallNames = new Map();
  for (const { role, content } of request.messages) {
    switch (role) {
      case 'system':
        if (turns.length === 0) append(instructions, content.flatMap(writeText));
        else addToTurn(turns, { role: 'user' }, content.map(markInstruction).flatMap(writeText));
        break;
      case 'user':
        addToTurn(turns, { role: 'user' }, content.flatMap(writeUserPart));
        break;
      case 'tool':
        addToTurn(
          turns,
          { role: 'user', kind: 'results' },
          writeResults(content, { traits, names }),
        );
        break;
      case 'assistant': {
        for (const part of content)
          if (part.type === 'tool-call') names.set(part.id, { name: part.name, order: names.size });
        addToTurn(turns, { role: 'model' }, writeModelParts(content, traits, ignored));
      }
    }
  }
  if (turns.at(-1)?.role === 'model' && !traits.prefill) {
    throw invalidRequest(
      'messages',
      'This model does not continue an assistant message; end with a message of the user or a tool',
    );
  }
  const contents = turns.map((turn) => ({
    role: turn.role,
    parts: [...turn.results, ...turn.rest],
  }));
  return {
    systemInstruction: instructions.length > 0 ? { parts: instructions } : null,
    contents: withUserFirst(contents),
  };
}

/**
 * Lists what is lost: the detail of single images, which Gemini sets per request only, and the
 * sources of earlier answers.
 */
function noteLosses({ messages }: CanonicalRequest, ignored: Set<string>): void {
  const parts = messages.flatMap((message): readonly object[] => message.content);
  const inner = parts.flatMap((part) =>
    'content' in part && Array.isArray(part.content) ? (part.content as object[]) : [part],
  );
  if (parts.some((part) => 'citations' in part && part.citations)) ignored.add('citations');
  if (inner.some((part) => 'detail' in part && part.detail !== undefined && part.detail !== 'auto'))
    ignored.add('detail');
}

/**
 * Gemini refuses a conversation that begins with a call, which happens when a client sends only its
 * last turns. https://github.com/google-gemini/gemini-cli/issues/11814 (read 2026-11-23)
 */
function withUserFirst(
  contents: readonly { readonly role: string; readonly parts: readonly JsonObject[] }[],
): readonly JsonObject[] {
  const isCall = contents[0]?.parts.some((part) => 'functionCall' in part);
  return isCall
    ? [{ role: 'user', parts: emptyTurn.content.flatMap(writeUserPart) }, ...contents]
    : contents;
}

function writeUserPart(part: UserPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return writeText(part);
    case 'image':
      return [writeMedia(part)];
    case 'document':
      return writeDocument(part);
  }
}

/** Leaves out empty texts: Gemini may refuse a part without content. */
function writeText({ text }: TextPart): JsonObject[] {
  return text === '' ? [] : [{ text }];
}
