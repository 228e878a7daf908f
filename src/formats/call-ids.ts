// Ids of calls as upstreams take them. A conversation can have begun with another vendor's model or in another program, whose ids may be of
// any length; the call and its result are mapped alike, and an id that fits is never touched.
import { createHash } from 'node:crypto';

const openAiCharactersMax = 64;

/** OpenAI refuses longer ones. */
export function fitOpenAiCallId(id: string): string {
  return id.length <= openAiCharactersMax ? id : `call_${hashOf(id).slice(0, 32)}`;
}

/** Mistral takes nine letters and digits, and no other id. */
export function fitMistralCallId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashOf(id).slice(0, 9);
}

/** Whether a model is one of Mistral's own: `mistral-large-latest`, `mistralai/devstral-small`. */
export function isMistral(model: string): boolean {
  return /(?:mi|mini|dev|code|magi)stral|mixtral|pixtral/i.test(model);
}

function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}
