// Fits call ids to what upstreams accept. A conversation may have begun with another vendor's model
// or in another program, with ids of any length. A call and its result are mapped alike; an id that
// fits is never changed.
import { hash } from 'node:crypto';

/** OpenAI refuses longer ids: in Responses those above 64 characters. */
export function fitOpenAiCallId(id: string, charactersMax = 64): string {
  return id.length <= charactersMax ? id : `call_${hashOf(id).slice(0, 32)}`;
}

/** In Chat, OpenAI refuses ids above 40: github.com/agno-agi/agno/issues/5382 (read 2026-11-30). */
export function fitOpenAiChatCallId(id: string): string {
  return fitOpenAiCallId(id, 40);
}

/** Mistral accepts ids of nine letters and digits only. */
export function fitMistralCallId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashOf(id).slice(0, 9);
}

/** Bedrock refuses longer ids, and other characters. */
export function fitConverseCallId(id: string): string {
  return /^[\w.:-]{1,64}$/.test(id) ? id : `call_${hashOf(id).slice(0, 32)}`;
}

/** Returns true for Mistral's own models: `mistral-large-latest`, `mistralai/devstral-small`. */
export function isMistral(model: string): boolean {
  return /(?:mi|mini|dev|code|magi)stral|mixtral|pixtral/i.test(model);
}

function hashOf(id: string): string {
  return hash('sha256', id);
}
