// The `content` of an upstream's message or delta: a string from nearly all hosts, parts from
// Mistral's thinking models.
import { isObject } from '../../lib/json.ts';

export function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? joinParts(content, 'text', 'text') : '';
}

/** Mistral: `{type: 'thinking', thinking: [{type: 'text', text}]}`. */
export function readThinkingInContent(content: unknown): string {
  return Array.isArray(content) ? joinParts(content, 'thinking', 'thinking') : '';
}

function joinParts(parts: readonly unknown[], type: string, field: string): string {
  let text = '';
  for (const part of parts) {
    if (isObject(part) && part.type === type) text += readText(part[field]);
  }
  return text;
}
