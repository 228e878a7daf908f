const synonyms: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
};

/**
 * Returns a media type as all providers know it: in lower case, and `image/jpeg` for its synonyms,
 * which OpenAI accepts and the others refuse.
 */
export function normalizeMediaType(type: string): string {
  const lower = type.toLowerCase();
  return synonyms[lower] ?? lower;
}
