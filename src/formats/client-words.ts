// A writer does not know the client's format, so its refusals, and its list of what it leaves out, use
// Chat's field names. This puts the client's own names in.
import { ApiError, invalidRequest } from '../canonical/errors.ts';

/**
 * Fields that a client format names differently from Chat: `{ response_format: 'text.format' }`.
 */
export type FieldNames = Readonly<Record<string, string>>;

/** Returns the client's own names of fields that a writer lists by Chat's. */
export function namesInWordsOf(
  names: FieldNames | undefined,
  fields: readonly string[],
): readonly string[] {
  return fields.map((field) => (names && Object.hasOwn(names, field) ? names[field]! : field));
}

/** Runs a writer. Its refusals name the client's own fields. */
export function inWordsOf<T>(names: FieldNames | undefined, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw inClientWords(error, names);
  }
}

/**
 * Returns the refusal with the client's field name, also at the start of the message. Other errors
 * are returned unchanged.
 */
function inClientWords(error: unknown, names: FieldNames = {}): unknown {
  if (!(error instanceof ApiError) || error.param === null) return error;
  const [field = ''] = /^\w+/.exec(error.param) ?? [];
  if (!Object.hasOwn(names, field)) return error;
  const rename = (text: string) =>
    text.startsWith(field) ? names[field] + text.slice(field.length) : text;
  return invalidRequest(rename(error.param), rename(error.message), error.details);
}
