// An address that a request gives, as a schema. What reads it must never see one without a bound, whoever fetches it in the end.
import { Type } from 'typebox';

/** More than any server takes: most stop at 8 KB for all of a request's head. */
const addressCharactersMax = 8_192;

const mismatch = `must be an address of at most ${addressCharactersMax} characters, or a data URL`;

/** An address on the web, or a `data:` URL, which the limit of the body bounds. */
export function addressText(options: { readonly minLength?: number } = {}) {
  return Type.String({ ...options, pattern: `^(?:[dD][aA][tT][aA]:|[^]{0,${addressCharactersMax}}$)`, mismatch });
}

/** Base64 of any length, or what `addressText` is. */
export function dataOrAddressText() {
  return Type.String({ pattern: `^(?:(?![hH][tT][tT][pP][sS]?:)|[^]{0,${addressCharactersMax}}$)`, mismatch });
}
