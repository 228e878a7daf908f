// Names the conversation that a request belongs to. Providers keep the beginning of a prompt in a
// cache for some minutes, so a conversation that stays on its route costs a tenth of its earlier
// turns. Nothing is stored: every thread and gateway derives the same name.
import { hash } from 'node:crypto';
import { isObject, type JsonObject, objectOf, parsedOr } from '../../lib/json.ts';

/** The parts of a request that name its conversation. */
type Asked = {
  readonly key: { readonly accountId: string };
  readonly model: { readonly id: string };
  readonly request: { readonly body: JsonObject };
  /** The client's own id, from a header; null: none was sent. */
  readonly sessionId?: string | null;
};

/** The text that counts, of tools and instructions and of the first turns. */
const charactersMax = 100_000;
const turnCharactersMax = 20_000;
/** Longer ids are not read. Clients send less than 300 characters. */
const idCharactersMax = 1_000;

/**
 * Returns a digest that all requests of a conversation share: of the client's own id, else of tools,
 * instructions and first user turn.
 */
export function conversationOf({ key, model, request, sessionId = null }: Asked): string {
  const { body } = request;
  const id = idOf(sessionId) ?? idIn(body);
  const name = id === null ? ['opening', ...openingOf(body)] : ['id', id];
  return hash('sha256', JSON.stringify([key.accountId, model.id, ...name]), 'base64url');
}

/** Returns a number above 0, up to 1: always the same for a conversation and a route. */
export function drawFor(conversation: string, route: string): number {
  const digest = hash('sha256', `${conversation} ${route}`, 'buffer');
  return (digest.readUIntBE(0, 6) + 1) / 2 ** 48;
}

function idIn({ prompt_cache_key: key, session_id: session, metadata }: JsonObject): string | null {
  return idOf(key) ?? idOf(session) ?? sessionInUser(objectOf(metadata).user_id);
}

/** A blank id would give all conversations one name. */
function idOf(value: unknown): string | null {
  const isId = typeof value === 'string' && value.length <= idCharactersMax && value.trim() !== '';
  return isId ? value : null;
}

/** Claude Code sends JSON as its user's name: `{"device_id":…,"session_id":…}`. */
function sessionInUser(name: unknown): string | null {
  const json = idOf(name);
  return json?.startsWith('{') ? idOf(objectOf(parsedOr(json, null)).session_id) : null;
}

/**
 * Returns the texts up to the first user turn. Clients move their cache marks, and change a turn
 * from a text to a list of parts, while the conversation goes on: neither counts.
 */
function openingOf(body: JsonObject): string[] {
  const { tools, system, systemInstruction = system, instructions, messages, input } = body;
  const asked = messages ?? input ?? body.contents;
  const turns: readonly unknown[] = Array.isArray(asked) ? asked : [asked];
  const user = turns.findIndex((turn) => isObject(turn) && turn.role === 'user');
  const first = Math.max(user, 0);
  return [
    ...textsIn([tools, systemInstruction, instructions, turns.slice(0, first)], charactersMax),
    ...textsIn(turns[first], turnCharactersMax),
  ];
}

function textsIn(root: unknown, most: number): string[] {
  const texts: string[] = [];
  let left = most;
  const collect = (value: unknown): void => {
    if (left <= 0) return;
    if (typeof value === 'string') {
      // Clients put a blank part behind a mark, and take it away with the mark.
      if (value.startsWith(attribution) || value.trim() === '') return;
      texts.push(value.slice(0, left));
      left -= value.length;
    } else if (Array.isArray(value)) value.forEach(collect);
    else if (isObject(value))
      for (const name in value) if (!shapeFields.has(name)) collect(value[name]);
  };
  collect(root);
  return texts;
}

/** Claude Code's line about itself, in front of its instructions: it changes with every request. */
const attribution = 'x-anthropic-billing-header:';

/** Fields that do not count, because clients change them in earlier turns. */
const shapeFields: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'status',
  'detail',
  'cache_control',
  'prompt_cache_breakpoint',
  'internal_chat_message_metadata_passthrough',
]);
