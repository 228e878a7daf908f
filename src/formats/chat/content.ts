// The `content` of an upstream's message or delta: a string from nearly all hosts, parts from
// Mistral's thinking models.
import { isObject, type JsonObject } from '../../lib/json.ts';

export function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? joinParts(content, 'text', 'text') : '';
}

/** Mistral: `{type: 'thinking', thinking: [{type: 'text', text}]}`. */
export function readThinkingInContent(content: unknown): string {
  return Array.isArray(content) ? joinParts(content, 'thinking', 'thinking') : '';
}

/**
 * Returns a message or delta with text for content, which is all that OpenAI's clients read, and
 * with Mistral's thinking where other hosts have it. Contents with other parts stay as they are.
 */
export function withPlainContent(message: JsonObject): JsonObject {
  const { content } = message;
  if (!Array.isArray(content) || !content.every(isPlain)) return message;
  const thinking = readThinkingInContent(content);
  return {
    ...message,
    content: readText(content),
    ...(thinking !== '' && { reasoning_content: thinking }),
  };
}

function isPlain(part: unknown): boolean {
  return isObject(part) && (part.type === 'text' || part.type === 'thinking');
}

function joinParts(parts: readonly unknown[], type: string, field: string): string {
  let text = '';
  for (const part of parts) {
    if (isObject(part) && part.type === type) text += readText(part[field]);
  }
  return text;
}
