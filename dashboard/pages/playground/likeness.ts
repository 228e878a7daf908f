// How similar texts are, by their vectors. Pure functions.

export type Likeness = {
  readonly text: string;
  /** From -1 to 1: the cosine of the angle between both vectors. */
  readonly likeness: number;
};

/** The lines that are not blank. */
export function textsOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

/** Compares the others with the first; the most similar comes first. */
export function byLikeness(
  texts: readonly string[],
  vectors: readonly (readonly number[])[],
): readonly Likeness[] {
  const [first = [], ...others] = vectors;
  return others
    .map((vector, index) => ({ text: texts[index + 1]!, likeness: cosine(first, vector) }))
    .toSorted((one, other) => other.likeness - one.likeness);
}

function cosine(one: readonly number[], other: readonly number[]): number {
  const product = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, number, index) => sum + number * b[index]!, 0);
  const lengths = Math.sqrt(product(one, one) * product(other, other));
  return lengths === 0 ? 0 : product(one, other) / lengths;
}
