// Images in answers: OpenRouter's field `images` of a message or delta, which OpenAI's API lacks.
// https://openrouter.ai/docs/features/multimodal/image-generation, read 2026-11-28
import type { MediaSource } from '../../canonical/request.ts';
import { type JsonObject, objectOf, listOf } from '../../lib/json.ts';
import { readMediaUrl, writeMediaUrl } from '../media-url.ts';

export function readImages({ images }: JsonObject): MediaSource[] {
  return listOf(images).flatMap((image: unknown) => {
    const url = objectOf(objectOf(image).image_url).url;
    return (typeof url === 'string' && readMediaUrl(url, 'image')) || [];
  });
}

export function writeImages(sources: readonly MediaSource[]): JsonObject {
  if (sources.length === 0) return {};
  const images = sources.map((source, index) => ({
    index,
    type: 'image_url',
    image_url: { url: writeMediaUrl(source) },
  }));
  return { images };
}
