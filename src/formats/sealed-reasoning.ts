// Puts any vendor's reasoning into the one opaque field that clients return: `encrypted_content` of a
// reasoning item in Responses, and, as base64, `thoughtSignature` of a part in Gemini. Ours reads
// `tg1.<vendor>.<JSON>`, and `tg1.none.<JSON>` for the text of hosts that sign nothing. Anything else
// is OpenAI's own and is never changed.
import type { Signature, ThinkingPart, Vendor } from '../canonical/request.ts';
import { objectOf, parsedOr } from '../lib/json.ts';

const prefix = 'tg1.';
const vendors: readonly Vendor[] = ['anthropic', 'openai', 'google', 'xai', 'moonshot'];

type OpenedReasoning = {
  /** null: the host signed nothing. */
  readonly signature: Signature | null;
  /** The signed text, if it must return byte for byte; null: use the item's. */
  readonly text: string | null;
  readonly redacted: boolean;
  /** True when the gateway wrote the string; otherwise it is the upstream's own. */
  readonly isOurs: boolean;
};

/**
 * Packs a signature. Anthropic signs the text too, and clients such as Codex return reasoning
 * without its text, so the text is packed with it. So is text without a signature: DeepSeek and
 * Kimi want it back. OpenAI's is packed as well: it is bound to an item id, and would be refused
 * under one of ours. Returns null when there is nothing to return.
 */
export function sealReasoning({ signature, text, redacted }: ThinkingPart): string | null {
  if (!signature) return text === '' ? null : `${prefix}none.${JSON.stringify({ text })}`;
  const packed = {
    value: signature.value,
    ...(signature.vendor === 'anthropic' && text !== '' ? { text } : {}),
    ...(redacted ? { redacted } : {}),
  };
  return `${prefix}${signature.vendor}.${JSON.stringify(packed)}`;
}

/** Reads `encrypted_content`. Returns null when there is none, or when it is ours and damaged. */
export function openReasoning(encryptedContent: unknown): OpenedReasoning | null {
  if (typeof encryptedContent !== 'string' || encryptedContent === '') return null;
  if (!encryptedContent.startsWith(prefix)) {
    return {
      signature: { vendor: 'openai', value: encryptedContent },
      text: null,
      redacted: false,
      isOurs: false,
    };
  }
  const vendorEnd = encryptedContent.indexOf('.', prefix.length);
  const label = encryptedContent.slice(prefix.length, vendorEnd);
  const vendor = vendors.find((known) => known === label);
  const packed = objectOf(parsedOr(encryptedContent.slice(vendorEnd + 1), null));
  const text = typeof packed.text === 'string' ? packed.text : null;
  if (label === 'none' && text !== null)
    return { signature: null, text, redacted: false, isOurs: true };
  if (!vendor || typeof packed.value !== 'string') return null;
  return {
    signature: { vendor, value: packed.value },
    text,
    redacted: packed.redacted === true,
    isOurs: true,
  };
}
