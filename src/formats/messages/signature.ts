// Puts signatures of other vendors' reasoning into the one opaque field that Messages clients
// return. Anthropic's own are never changed. A foreign one reads `tg1.<vendor>.<value>`;
// Anthropic's are plain base64 and never look like that. Reasoning of hosts that sign nothing gets a
// signature of ours, because clients drop a thinking block without one from their history.
import type { Signature, Vendor } from '../../canonical/request.ts';
import { isObject, type JsonObject, textOf } from '../../lib/json.ts';

const prefix = 'tg1.';
const vendors: readonly Vendor[] = ['openai', 'google', 'xai', 'moonshot'];
const unsigned = `${prefix}unsigned`;

/** Returns a `thinking` block's `signature` or a `redacted_thinking` block's `data`. */
export function sealSignature(signature: Signature | null): string {
  if (!signature) return unsigned;
  const { vendor, value } = signature;
  return vendor === 'anthropic' ? value : `${prefix}${vendor}.${value}`;
}

export function isThinking(block: unknown): boolean {
  return isObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking');
}

/**
 * Returns the blocks of an answer without the reasoning that Anthropic refuses: at its end, and behind
 * other reasoning with a signature, from which a blank text may have parted it
 * (github.com/tailcallhq/forgecode/issues/3071, github.com/Yeachan-Heo/gajae-code/issues/4416, read
 * 2026-12-01).
 */
export function withPlacedThinking(blocks: readonly JsonObject[]): readonly JsonObject[] {
  return blocks
    .slice(0, blocks.findLastIndex((block) => !isThinking(block)) + 1)
    .filter((block, at, all) => !(isSigned(block) && isSigned(all[at - 1])));
}

function isSigned(block: unknown): boolean {
  return isObject(block) && block.type === 'thinking' && !isUnsigned(block);
}

/** Returns true for a block that clients drop from their history, as it lacks a signature. */
export function isUnsigned(block: unknown): boolean {
  return isObject(block) && block.type === 'thinking' && textOf(block.signature) === '';
}

/** Returns the block with a signature of ours if it has none. */
export function withSignature(block: JsonObject): JsonObject {
  return isUnsigned(block) ? { ...block, signature: unsigned } : block;
}

/**
 * Reverses `sealSignature`. Returns null for an empty value, which means reasoning without a
 * signature, as ours for it does, and for a damaged one of ours.
 */
export function openSignature(sealed: unknown): Signature | null {
  if (typeof sealed !== 'string' || sealed === '') return null;
  if (!sealed.startsWith(prefix)) return { vendor: 'anthropic', value: sealed };
  const vendor = vendors.find((known) => sealed.startsWith(`${prefix}${known}.`));
  return vendor ? { vendor, value: sealed.slice(prefix.length + vendor.length + 1) } : null;
}
