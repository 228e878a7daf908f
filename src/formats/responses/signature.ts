// Puts any vendor's signed reasoning into the one opaque field that Responses clients return:
// `encrypted_content` of a reasoning item. Ours reads `tg1.<vendor>.<JSON>`. Anything else is
// OpenAI's own and is never changed.
import type { Signature, ThinkingPart, Vendor } from '../../canonical/request.ts';
import { isObject } from '../../lib/json.ts';

const prefix = 'tg1.';
const vendors: readonly Vendor[] = ['anthropic', 'openai', 'google'];

type OpenedSignature = {
  readonly signature: Signature;
  /** The signed text, if it must return byte for byte; null: use the item's. */
  readonly text: string | null;
  readonly redacted: boolean;
  /** True when the gateway wrote the string; otherwise it is the upstream's own. */
  readonly isOurs: boolean;
};

/**
 * Packs a signature. Anthropic signs the text too, and clients such as Codex return reasoning
 * without its text, so the text is packed with it. OpenAI's is packed as well: it is bound to an
 * item id, and would be refused under one of ours.
 */
export function sealSignature({ signature, text, redacted }: ThinkingPart): string | null {
  if (!signature) return null;
  const packed = {
    value: signature.value,
    ...(signature.vendor === 'anthropic' && text !== '' ? { text } : {}),
    ...(redacted ? { redacted } : {}),
  };
  return `${prefix}${signature.vendor}.${JSON.stringify(packed)}`;
}

/** Reads `encrypted_content`. Returns null when there is none, or when it is ours and damaged. */
export function openSignature(encryptedContent: unknown): OpenedSignature | null {
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
  const vendor = vendors.find(
    (known) => known === encryptedContent.slice(prefix.length, vendorEnd),
  );
  const packed = parsePacked(encryptedContent.slice(vendorEnd + 1));
  if (!vendor || typeof packed?.value !== 'string') return null;
  return {
    signature: { vendor, value: packed.value },
    text: typeof packed.text === 'string' ? packed.text : null,
    redacted: packed.redacted === true,
    isOurs: true,
  };
}

function parsePacked(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
