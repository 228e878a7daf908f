// Finds the candidate that a misspelt name most likely meant.

/**
 * Returns the candidate within a small edit distance of a name, or null. Candidates of very
 * different length are skipped, so the work is linear in the name's length.
 */
export function nearestOf(name: string, candidates: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const distanceMax = Math.min(Math.max(2, candidate.length / 3), candidate.length - 2);
    if (Math.abs(candidate.length - name.length) > distanceMax) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance > distanceMax || distance >= bestDistance) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** The Levenshtein distance: insertions, deletions and replacements, computed row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < to.length; column++) {
      next.push(
        Math.min(
          next[column]! + 1,
          row[column + 1]! + 1,
          row[column]! + (from[index] === to[column] ? 0 : 1),
        ),
      );
    }
    row = next;
  }
  return row.at(-1)!;
}
