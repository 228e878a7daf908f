const form =
  /^([a-z][\w.-]{0,31})(?![\w.-])(?:\/([a-z][a-z-]{0,15})(?![\w.-]))?(?:[/ ]v?(\d{1,5}(?:\.\d{1,5})?))?/i;

/**
 * Returns the program that a `User-Agent` names first, with two parts of its version and at most 62
 * characters: `openai-python/2.8`. Of all browsers, `browser`. undefined: it names none in this form. The
 * rest of the header, which may tell of the machine or its user, is left out.
 */
export function clientNameOf(userAgent: string | undefined): string | undefined {
  const [, product, language, version] = form.exec(userAgent ?? '') ?? [];
  if (product === undefined) return undefined;
  const name = [product, language].filter(Boolean).join('-').toLowerCase();
  if (name === 'mozilla') return 'browser';
  return version === undefined ? name : `${name}/${version}`;
}
