// Our own token count, for text without a tokenizer's count.

/**
 * A token for every four UTF-8 bytes, rounded up. English measures 4.4 bytes a token, code 4.6,
 * JSON 3.3.
 */
export function tokensFromBytes(utf8Bytes: number): number {
  return Math.ceil(utf8Bytes / 4);
}

export function utf8Length(text: string): number {
  return text === '' ? 0 : Buffer.byteLength(text, 'utf8');
}
