// PostgreSQL refuses NUL in text, so no query on either store may contain one. The API edges refuse
// it by field name; this check catches what they miss.

export class NulInText extends Error {
  override readonly name = 'NulInText';

  constructor() {
    super('a text in a query contains a NUL character');
  }
}

/** Throws NulInText for a text with a NUL, also inside a list. */
export function checkTextValue(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new NulInText();
  } else if (Array.isArray(value)) value.forEach(checkTextValue);
}
