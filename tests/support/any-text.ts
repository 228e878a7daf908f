// Arbitrary texts. fast-check's own `binary` unit and `webUrl` take most of a second to build in
// every process.
import fc from './property.ts';

/** Any Unicode character. */
export const anyCharacter = fc
  .oneof(
    fc.integer({ min: 0x20, max: 0x7e }),
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((codePoint) => String.fromCodePoint(codePoint));

/** An http or https URL without a query. */
export const anyUrl = fc.stringMatching(
  /^https?:\/\/[a-z](?:[a-z0-9-]{0,8}[a-z0-9])?\.(?:com|org|x[a-z]{1,4})(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[0-9A-F]{2}){0,6}){0,3}$/,
);
