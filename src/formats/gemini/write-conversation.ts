// Writes the conversation as Gemini wants it: user and model turns alternate; a user turn begins
// with the tool results, in the order of the calls. Instructions are in one place, before
// everything.
import { invalidRequest } from '../../canonical/errors.ts';
import type {
  AssistantPart,
  CanonicalRequest,
  Message,
  TextPart,
  ToolResultPart,
  UserPart,
} from '../../canonical/request.ts';
import { markInstruction } from '../../canonical/marked-instruction.ts';
import { append } from '../../lib/append.ts';
import { emptyTurn } from '../adapting/answerable.ts';
import type { JsonObject } from '../../lib/json.ts';
import { writeDocument, writeMedia } from './media.ts';
import type { ModelTraits } from './model-traits.ts';
import { writeModelParts } from './write-model-parts.ts';
import { writeResults, type CallNames } from './write-results.ts';

type WrittenContents = {
  readonly systemInstruction: JsonObject | null;
  readonly contents: readonly JsonObject[];
};

type Turn =
  | { readonly role: 'user'; readonly results: ToolResultPart[]; readonly rest: UserPart[] }
  | { readonly role: 'model'; readonly parts: AssistantPart[] };

type WrittenTurn = { readonly role: Turn['role']; readonly parts: readonly JsonObject[] };

/**
 * Adds what is left out to `ignored`. Throws ApiError on a prefill that the model does not support.
 */
export function writeConversation(
  request: CanonicalRequest,
  traits: ModelTraits,
  ignored: Set<string>,
): WrittenContents {
  noteLosses(request, ignored);
  const system = [...request.system];
  const turns = gatherTurns(request.messages, system);
  const names: CallNames = new Map();
  const contents = withUserFirst(
    joinTurns(turns.map((turn) => writeTurn(turn, { traits, names, ignored }))),
  );
  if (contents.at(-1)?.role === 'model' && !traits.prefill) {
    throw invalidRequest(
      'messages',
      'This model does not continue an assistant message; end with a message of the user or a tool',
    );
  }
  const instructions = system.flatMap(writeText);
  return { systemInstruction: instructions.length > 0 ? { parts: instructions } : null, contents };
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

/** Instructions before the first turn join `system`. */
function gatherTurns(messages: readonly Message[], system: TextPart[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        if (turns.length === 0) append(system, message.content);
        else append(userTurn(turns).rest, message.content.map(markInstruction));
        break;
      case 'user':
        append(userTurn(turns).rest, message.content);
        break;
      case 'tool':
        append(userTurn(turns).results, message.content);
        break;
      case 'assistant':
        append(modelTurn(turns).parts, message.content);
        break;
    }
  }
  return turns;
}

function userTurn(turns: Turn[]): Extract<Turn, { role: 'user' }> {
  const last = turns.at(-1);
  if (last?.role === 'user') return last;
  const turn = { role: 'user' as const, results: [], rest: [] };
  turns.push(turn);
  return turn;
}

function modelTurn(turns: Turn[]): Extract<Turn, { role: 'model' }> {
  const last = turns.at(-1);
  if (last?.role === 'model') return last;
  const turn = { role: 'model' as const, parts: [] };
  turns.push(turn);
  return turn;
}

type TurnNotes = {
  readonly traits: ModelTraits;
  readonly names: CallNames;
  readonly ignored: Set<string>;
};

function writeTurn(turn: Turn, { traits, names, ignored }: TurnNotes): WrittenTurn {
  if (turn.role === 'user') {
    return {
      role: 'user',
      parts: [
        ...writeResults(turn.results, { traits, names }),
        ...turn.rest.flatMap(writeUserPart),
      ],
    };
  }
  for (const part of turn.parts)
    if (part.type === 'tool-call') names.set(part.id, { name: part.name, order: names.size });
  const written = writeModelParts(turn.parts, traits);
  if (written.droppedThinking) ignored.add('thinking');
  return { role: 'model', parts: written.parts };
}

/** A turn without remaining parts is dropped, and its neighbours join. */
function joinTurns(turns: readonly WrittenTurn[]): WrittenTurn[] {
  const joined: { readonly role: Turn['role']; readonly parts: JsonObject[] }[] = [];
  for (const { role, parts } of turns) {
    const last = joined.at(-1);
    if (parts.length === 0) continue;
    if (last?.role === role) append(last.parts, parts);
    else joined.push({ role, parts: [...parts] });
  }
  return joined;
}

/**
 * Gemini refuses a conversation that begins with a call, which happens when a client sends only its
 * last turns. https://github.com/google-gemini/gemini-cli/issues/11814 (read 2026-11-23)
 */
function withUserFirst(turns: readonly WrittenTurn[]): readonly WrittenTurn[] {
  const [first] = turns;
  const isCall = first?.role === 'model' && first.parts.some((part) => 'functionCall' in part);
  return isCall
    ? [{ role: 'user', parts: emptyTurn.content.flatMap(writeUserPart) }, ...turns]
    : turns;
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
