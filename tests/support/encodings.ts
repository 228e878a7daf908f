// OpenAI's public encodings, which our estimates are compared with.
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';

/**
 * Returns the larger token count of the two encodings. Names of special tokens count as plain text.
 */
export function countTokens(text: string): number {
  const asText = { disallowedSpecial: new Set<string>() };
  return Math.max(cl100k.countTokens(text, asText), o200k.countTokens(text, asText));
}
