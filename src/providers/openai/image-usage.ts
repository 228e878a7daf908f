// Reads the usage in answers of OpenAI's image API.
// https://platform.openai.com/docs/api-reference/images/object
import type { ImageUsage } from '../../terms/image-model.ts';
import { readTokenCount } from '../../canonical/usage.ts';
import { isObject, objectOf } from '../../lib/json.ts';

/** Returns null when there is no usage. An invalid count is treated as missing. */
export function readImageUsage(usage: unknown): ImageUsage | null {
  if (!isObject(usage)) return null;
  const details = objectOf(usage.input_tokens_details);
  const cached = objectOf(details.cached_tokens_details);
  const cachedTokens = readTokenCount(details.cached_tokens) ?? 0;
  const cachedImageTokens = readTokenCount(cached.image_tokens) ?? 0;
  return {
    inputTokens: readTokenCount(usage.input_tokens) ?? 0,
    imageTokens: readTokenCount(details.image_tokens),
    // Cached tokens of an unknown kind count as text, which saves less.
    cachedTextTokens:
      readTokenCount(cached.text_tokens) ?? Math.max(cachedTokens - cachedImageTokens, 0),
    cachedImageTokens,
    outputTokens: readTokenCount(usage.output_tokens) ?? 0,
  };
}
