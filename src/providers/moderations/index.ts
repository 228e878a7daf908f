// Moderations in OpenAI's form, which Mistral has too.
// https://platform.openai.com/docs/api-reference/moderations
import { isObject, type JsonObject } from '../../lib/json.ts';
import type { ChatKindName } from '../../terms/provider-kind.ts';

export type Moderated = {
  readonly flagged: boolean;
  /** null: not judged, in OpenAI's types. */
  readonly categories: Readonly<Record<string, boolean | null>>;
  readonly category_scores: Readonly<Record<string, number>>;
  readonly category_applied_input_types?: Readonly<Record<string, unknown>>;
};

export function moderates(kind: ChatKindName): boolean {
  return kind === 'openai' || kind === 'openai-compatible';
}

/** Returns null for an answer that is none. Mistral's leaves out whether a text is flagged. */
export function readModerations({ results }: JsonObject): readonly Moderated[] | null {
  if (!Array.isArray(results)) return null;
  const read = results.map(readModeration);
  return read.includes(null) ? null : (read as readonly Moderated[]);
}

function readModeration(result: unknown): Moderated | null {
  if (!isObject(result)) return null;
  const {
    flagged,
    categories,
    category_scores: scores,
    category_applied_input_types: applied,
  } = result;
  if (!isRecordOf(isVerdict, categories) || !isRecordOf(isScore, scores)) return null;
  return {
    flagged: typeof flagged === 'boolean' ? flagged : Object.values(categories).includes(true),
    categories,
    category_scores: scores,
    ...(isObject(applied) && { category_applied_input_types: applied }),
  };
}

const isVerdict = (value: unknown) => value === null || typeof value === 'boolean';
const isScore = (value: unknown): value is number => Number.isFinite(value);

function isRecordOf<Value>(
  isOne: (value: unknown) => value is Value,
  value: unknown,
): value is Readonly<Record<string, Value>> {
  return isObject(value) && Object.values(value).every(isOne);
}
