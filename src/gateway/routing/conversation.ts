// Names the conversation that a request belongs to. Providers keep the beginning of a prompt in a
// cache for some minutes, so a conversation that stays on its route costs a tenth of its earlier
// turns. Nothing is stored: every thread and gateway derives the same name.
import { hash } from 'node:crypto';
import { isObject, type JsonObject } from '../../lib/json.ts';

/** What the name is made of. */
type Asked = {
  readonly key: { readonly accountId: string };
  readonly model: { readonly id: string };
  readonly request: { readonly body: JsonObject };
  /** The client's own id, from a header; null: none was sent. */
  readonly sessionId?: string | null;
};

/** The text of an opening that counts. More than a provider's shortest cached prompt. */
const charactersMax = 100_000;

/**
 * Returns a digest that all requests of a conversation share: of the client's own id, else of tools,
 * instructions and first user turn.
 */
export function conversationOf({ key, model, request, sessionId = null }: Asked): string {
  const { body } = request;
  const id = sessionId ?? idIn(body);
  const name = id === null ? ['opening', ...openingOf(body)] : ['id', id];
  return hash('sha256', JSON.stringify([key.accountId, model.id, ...name]), 'base64url');
}

/** Returns a number above 0, up to 1, that is the same for each pair of a conversation and a route. */
export function drawFor(conversation: string, route: string): number {
  const digest = hash('sha256', `${conversation} ${route}`, 'buffer');
  return (digest.readUIntBE(0, 6) + 1) / 2 ** 48;
}

function idIn({ prompt_cache_key: key, session_id: session, metadata }: JsonObject): string | null {
  if (typeof key === 'string') return key;
  if (typeof session === 'string') return session;
  return isObject(metadata) ? sessionInUser(metadata.user_id) : null;
}

/** Claude Code sends JSON as its user's name: `{"device_id":…,"account_uuid":…,"session_id":…}`. */
function sessionInUser(name: unknown): string | null {
  if (typeof name !== 'string' || !name.startsWith('{')) return null;
  try {
    const { session_id: session } = JSON.parse(name) as JsonObject;
    return typeof session === 'string' ? session : null;
  } catch {
    return null;
  }
}

/**
 * Returns the texts up to the first user turn. Clients move their cache marks, and change a turn
 * from a text to a list of parts, while the conversation goes on: neither counts.
 */
function openingOf({ tools, system, instructions, messages, input }: JsonObject): string[] {
  const turns = messages ?? input;
  const opening: unknown[] = [tools, system, instructions];
  if (Array.isArray(turns)) {
    const first = turns.findIndex((turn) => isObject(turn) && turn.role === 'user');
    opening.push(turns.slice(0, first + 1 || 1));
  } else opening.push(turns);
  const texts: string[] = [];
  let charactersLeft = charactersMax;
  const collect = (value: unknown): void => {
    if (charactersLeft <= 0) return;
    if (typeof value === 'string') {
      if (value.startsWith(attribution)) return;
      texts.push(value.slice(0, charactersLeft));
      charactersLeft -= value.length;
    } else if (Array.isArray(value)) value.forEach(collect);
    else if (isObject(value))
      for (const [name, inner] of Object.entries(value)) if (!shapeFields.has(name)) collect(inner);
  };
  collect(opening);
  return texts;
}

/** Claude Code's line about itself, in front of its instructions: it changes with every request. */
const attribution = 'x-anthropic-billing-header:';

const shapeFields: ReadonlySet<string> = new Set(['type', 'role', 'id', 'cache_control']);
