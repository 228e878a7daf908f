// Google's convention for the signature of a call in Chat: `extra_content.google.thought_signature`
// beside the call. Clients that return calls unchanged keep it, even when they do not know
// `reasoning_details`. https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11-21
import type { Signature, ThinkingPart } from '../../canonical/request.ts';
import { readPlacedSignature, placeSignature } from '../../canonical/thought-signature.ts';
import { type JsonObject, objectOf, textOf } from '../../lib/json.ts';

/** Returns reasoning that holds the signature beside a call; empty when there is none. */
export function readCallSignature(call: JsonObject, callId: string): ThinkingPart[] {
  const { google } = objectOf(call.extra_content);
  const value = textOf(objectOf(google).thought_signature);
  if (value === '') return [];
  return [
    {
      type: 'thinking',
      text: '',
      signature: placeSignature({ kind: 'call', callId }, value),
      redacted: true,
    },
  ];
}

/** Returns the call signatures in an answer's reasoning, keyed by call id. */
export function findCallSignatures(parts: readonly ThinkingPart[]): ReadonlyMap<string, string> {
  return new Map(parts.flatMap(({ signature }) => (signature ? signedCall(signature) : [])));
}

/**
 * Returns the call id and the bare value of a signature that belongs to a call; empty for others.
 */
export function signedCall({
  vendor,
  value: sealed,
}: Signature): [callId: string, value: string][] {
  if (vendor !== 'google') return [];
  const { place, value } = readPlacedSignature(sealed);
  return place.kind === 'call' && place.callId !== null ? [[place.callId, value]] : [];
}

/** Returns the field beside a call. */
export function writeCallSignature(value: string | undefined): JsonObject {
  return value === undefined ? {} : { extra_content: { google: { thought_signature: value } } };
}
