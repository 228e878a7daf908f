// Google's thought signatures. Gemini puts one on a part of any kind and wants it back on that
// part. The canonical model and every client format have signatures on reasoning only. So each
// signature travels in a reasoning block, its own or the one before its call, and its value says
// where it belongs: `call.<id>.<signature>`. Chat keeps no order between reasoning and text, so the
// place must be part of the value.
import type { Signature } from './request.ts';

export type SignedPlace =
  | { readonly kind: 'thought' | 'text' }
  /** A part whose text is empty, as it ends many streams. */
  | { readonly kind: 'empty-text' }
  | { readonly kind: 'call'; readonly callId: string | null };

/** `value` is base64, which has no dots. */
export function placeSignature(place: SignedPlace, value: string): Signature {
  const label = place.kind === 'call' ? `call.${place.callId ?? ''}` : place.kind;
  return { vendor: 'google', value: `${label}.${value}` };
}

/**
 * Reverses `placeSignature`. A signature that came through another gateway has no place; nearly all
 * of those belong to calls.
 */
export function readPlacedSignature(sealed: string): {
  readonly place: SignedPlace;
  readonly value: string;
} {
  const labelEnd = sealed.lastIndexOf('.');
  return {
    place: readPlace(sealed.slice(0, Math.max(labelEnd, 0))),
    value: sealed.slice(labelEnd + 1),
  };
}

function readPlace(label: string): SignedPlace {
  if (label === 'thought' || label === 'text' || label === 'empty-text') return { kind: label };
  return { kind: 'call', callId: label.startsWith('call.') ? label.slice('call.'.length) : null };
}
