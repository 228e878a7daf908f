// Removes thinking that Anthropic has refused, so that the request can run without it. Anthropic
// refuses thinking that it signed for another cloud, or before a change of its keys. It also refuses
// unsigned thinking, which only models with `claude` in their name are not sent.
import { isObject, type JsonObject } from '../../lib/json.ts';
import { mayThinkWithBudget } from '../claude-thinking.ts';
import type { Lightened } from '../format.ts';
import { refusesReasoning } from '../refused-reasoning.ts';
import { isThinking } from './signature.ts';

/** `refusal`: the body of the host's 400. Returns null when nothing can be left out. */
export function withoutRefused(body: JsonObject, refusal: unknown): Lightened | null {
  if (!refusesReasoning(refusal)) return null;
  const given: unknown = body.messages;
  if (!Array.isArray(given)) return null;
  const messages = given.map(withoutThinking).filter((turn) => turn !== null);
  // A host that refuses it all the same would be asked forever.
  if (messages.length === given.length && messages.every((turn, at) => turn === given[at]))
    return null;
  const { thinking, ...rest } = body;
  const thinks = isObject(thinking) && thinking.type === 'enabled';
  const kept = thinking !== undefined && (!thinks || mayThinkWithBudget(messages));
  return { body: { ...rest, ...(kept && { thinking }), messages }, ignored: ['thinking'] };
}

/** Returns null for a turn without anything else: Anthropic refuses empty ones. */
function withoutThinking(turn: unknown): unknown {
  if (!isObject(turn) || turn.role !== 'assistant' || !Array.isArray(turn.content)) return turn;
  const content = turn.content.filter((block) => !isThinking(block));
  if (content.length === turn.content.length) return turn;
  return content.length === 0 ? null : { ...turn, content };
}
