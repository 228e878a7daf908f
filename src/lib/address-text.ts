// Schemas for addresses in requests. The bound is part of the schema, so no reader sees an
// unbounded one.
import { Type } from 'typebox';

/** Longer than servers accept: most limit the whole request head to 8 KB. */
const addressCharactersMax = 8_192;

const mismatch = `must be an address of at most ${addressCharactersMax} characters, or a data URL`;

/** A web address, or a `data:` URL, which only the body limit bounds. */
export function addressText(options: { readonly minLength?: number } = {}) {
  return Type.String({
    ...options,
    pattern: `^(?:[dD][aA][tT][aA]:|[^]{0,${addressCharactersMax}}$)`,
    mismatch,
  });
}

/** Base64 of any length, or anything that `addressText` accepts. */
export function dataOrAddressText() {
  return Type.String({
    pattern: `^(?:(?![hH][tT][tT][pP][sS]?:)|[^]{0,${addressCharactersMax}}$)`,
    mismatch,
  });
}
