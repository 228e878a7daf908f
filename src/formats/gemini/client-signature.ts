// Signatures in the parts of clients. Google's own pass unchanged. Other vendors' reasoning travels in
// the same field, sealed (`sealed-reasoning.ts`) and as base64, which Google's SDKs decode.
import type { ThinkingPart } from '../../canonical/request.ts';
import { openReasoning, sealReasoning } from '../sealed-reasoning.ts';

/** Returns null when there is nothing to return. */
export function sealForeign(thinking: ThinkingPart): string | null {
  const sealed = sealReasoning(thinking);
  return sealed === null ? null : Buffer.from(sealed, 'utf8').toString('base64');
}

export type ClientSignature =
  | { readonly kind: 'google'; readonly value: string }
  /** `text`: the reasoning that was signed; null: the thought beside it. */
  | {
      readonly kind: 'foreign';
      readonly thinking: Omit<ThinkingPart, 'text'>;
      readonly text: string | null;
    };

/**
 * Returns null for no signature, a damaged one of ours, and those that Google documents for turns of
 * other models.
 */
export function readClientSignature(value: string | null | undefined): ClientSignature | null {
  if (!value || placeholders.has(value)) return null;
  // Python's SDK writes base64 in its form for URLs.
  if (!value.startsWith(sealedStart)) return { kind: 'google', value };
  const opened = openReasoning(Buffer.from(value, 'base64').toString('utf8'));
  if (!opened?.isOurs) return null;
  const { signature, text, redacted } = opened;
  return { kind: 'foreign', thinking: { type: 'thinking', signature, redacted }, text };
}

/** `tg1.` in base64, but for the last two bits. */
const sealedStart = Buffer.from('tg1.').toString('base64').slice(0, 5);

const placeholders = new Set([
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
]);
