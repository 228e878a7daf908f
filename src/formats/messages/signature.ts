// Signatures of other vendors' reasoning in the one opaque field that Messages clients send back. Anthropic's own are never touched;
// a foreign one reads `tg1.<vendor>.<value>`, which no signature of Anthropic's does, since those are plain base64.
import type { Signature, Vendor } from '../../canonical/request.ts';

const prefix = 'tg1.';
const vendors: readonly Vendor[] = ['openai', 'google'];

/** For a `thinking` block's `signature` or a `redacted_thinking` block's `data`. */
export function sealSignature({ vendor, value }: Signature): string {
  return vendor === 'anthropic' ? value : `${prefix}${vendor}.${value}`;
}

/** Reverses `sealSignature`. null for an empty one, which is how reasoning without a signature travels, and for one of ours that is damaged. */
export function openSignature(sealed: unknown): Signature | null {
  if (typeof sealed !== 'string' || sealed === '') return null;
  if (!sealed.startsWith(prefix)) return { vendor: 'anthropic', value: sealed };
  const vendor = vendors.find((known) => sealed.startsWith(`${prefix}${known}.`));
  return vendor ? { vendor, value: sealed.slice(prefix.length + vendor.length + 1) } : null;
}
