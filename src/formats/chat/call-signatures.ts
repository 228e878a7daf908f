// Google's own convention for the signature of a call in Chat: `extra_content.google.thought_signature` beside the call. Clients that send
// calls back as they came keep it, where they may not know `reasoning_details`.
// https://ai.google.dev/gemini-api/docs/thought-signatures, read 2026-11-21
import type { Signature, ThinkingPart } from '../../canonical/request.ts';
import { openSignature, sealSignature } from '../../canonical/thought-signature.ts';
import { isObject } from '../../lib/json.ts';
import type { JsonObject } from '../format.ts';

/** The reasoning that holds the signature beside a call; none where there is no signature. */
export function readCallSignature(call: JsonObject, callId: string): ThinkingPart[] {
  const google = isObject(call.extra_content) ? call.extra_content.google : null;
  const value = isObject(google) ? google.thought_signature : null;
  if (typeof value !== 'string' || value === '') return [];
  return [{ type: 'thinking', text: '', signature: sealSignature({ kind: 'call', callId }, value), redacted: true }];
}

/** The signatures of calls among an answer's reasoning, by the calls' ids. */
export function findCallSignatures(parts: readonly ThinkingPart[]): ReadonlyMap<string, string> {
  return new Map(parts.flatMap(({ signature }) => (signature ? signedCall(signature) : [])));
}

/** The id of the call that a signature is of, and its bare value; none for any other signature. */
export function signedCall({ vendor, value: sealed }: Signature): [callId: string, value: string][] {
  if (vendor !== 'google') return [];
  const { place, value } = openSignature(sealed);
  return place.kind === 'call' && place.callId !== null ? [[place.callId, value]] : [];
}

/** What stands beside a call. */
export function writeCallSignature(value: string | undefined): JsonObject {
  return value === undefined ? {} : { extra_content: { google: { thought_signature: value } } };
}
