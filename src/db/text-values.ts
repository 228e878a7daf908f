// The texts that queries carry. PostgreSQL takes no NUL in any text, so no query on either store may have one: the edges refuse it with the
// name of the field, and what they miss stops here.

export class NulInText extends Error {
  override readonly name = 'NulInText';

  constructor() {
    super('a text of a query holds a NUL character');
  }
}

/** Throws NulInText for a text, or a list of texts, with a NUL in it. */
export function checkTextValue(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new NulInText();
  } else if (Array.isArray(value)) value.forEach(checkTextValue);
}
