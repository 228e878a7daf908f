// OpenAI's public encodings, to hold our estimates against.
import * as cl100k from 'gpt-tokenizer/encoding/cl100k_base';
import * as o200k from 'gpt-tokenizer/encoding/o200k_base';

/** Returns the tokens of a text in the encoding that makes more of it. Names of special tokens are text like any other. */
export function countTokens(text: string): number {
  const asText = { disallowedSpecial: new Set<string>() };
  return Math.max(cl100k.countTokens(text, asText), o200k.countTokens(text, asText));
}
