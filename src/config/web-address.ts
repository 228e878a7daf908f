// Checks addresses in the configuration. An address can contain a password, so no message quotes
// one.

/** Returns null, or a clause that says what is wrong. */
export function webAddressProblem(text: string): string | null {
  if (!URL.canParse(text))
    return 'must be a whole address that begins with http:// or https://; got something else';
  const { protocol, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return 'must begin with http:// or https://; got another scheme';
  return search || hash ? 'must end with its path; got a `?` or `#` in it' : null;
}
