// A writer refuses what its format lacks under Chat's name of the field, since it does not know who asked. The caller is told under its own.
import { ApiError, invalidRequest } from '../canonical/errors.ts';

/** What a client format calls the fields that it names otherwise than Chat: `{ response_format: 'text.format' }`. */
export type FieldNames = Readonly<Record<string, string>>;

/** The same refusal with the caller's name of the field, at the start of the message too; anything else as it is. */
export function inClientWords(error: unknown, names: FieldNames = {}): unknown {
  if (!(error instanceof ApiError) || error.param === null) return error;
  const [field = ''] = /^\w+/.exec(error.param) ?? [];
  if (!Object.hasOwn(names, field)) return error;
  const rename = (text: string) => (text.startsWith(field) ? names[field] + text.slice(field.length) : text);
  return invalidRequest(rename(error.param), rename(error.message), error.details);
}
