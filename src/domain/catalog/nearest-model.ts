// Suggests the model that an unknown name probably meant.
import { nearestOf } from '../../lib/nearest.ts';

/** Longer than any id with a vendor and a date. */
const nameLengthMax = 100;
/** The minimal share of words that two ids must have in common. */
const similarityMin = 0.5;

/**
 * Returns the nearest id: a few letters off, or made of the same words (`claude-3-5-sonnet` for
 * `claude-sonnet-5`). Ignores vendors before a slash, case and separators. null when no id is near.
 */
export function nearestModelId(name: string, ids: readonly string[]): string | null {
  if (name.length > nameLengthMax) return null;
  const wanted = plain(name);
  const plainIds = ids.map(plain);
  const near = nearestOf(wanted, plainIds) ?? mostSimilar(wanted, plainIds);
  return near === null ? null : ids[plainIds.indexOf(near)]!;
}

function plain(id: string): string {
  return id
    .slice(id.lastIndexOf('/') + 1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-');
}

function mostSimilar(wanted: string, ids: readonly string[]): string | null {
  const words = wordsOf(wanted);
  let best: string | null = null;
  let bestSimilarity = 0;
  for (const id of ids) {
    const idWords = wordsOf(id);
    const similarity = idWords.intersection(words).size / Math.max(words.size, idWords.size);
    if (similarity < similarityMin || similarity <= bestSimilarity) continue;
    best = id;
    bestSimilarity = similarity;
  }
  return best;
}

function wordsOf(id: string): Set<string> {
  return new Set(id.split('-').filter((word) => word !== ''));
}
