// Marks for Anthropic's prompt cache, in a request for a provider that caches by itself.
import type { CanonicalRequest, Message } from './request.ts';

/** Returns true when the request has marks. They are left out and listed as `cache_control`. */
export function hasCacheMarks({ system, messages, tools }: CanonicalRequest): boolean {
  return system.some(isMarked) || tools.some(isMarked) || messages.some(hasMarkInside);
}

function hasMarkInside({ content }: Message): boolean {
  return content.some(
    (part: object) =>
      isMarked(part) || ('content' in part && (part.content as object[]).some(isMarked)),
  );
}

function isMarked(holder: object): boolean {
  return 'cacheControl' in holder && holder.cacheControl !== undefined;
}
