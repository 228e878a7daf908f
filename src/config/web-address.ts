// Checks addresses in the configuration. An address can contain a password, so no message quotes
// one.

/** Returns null, or a clause that says what is wrong. */
export function webAddressProblem(text: string): string | null {
  if (!URL.canParse(text))
    return 'must be a whole address that begins with http:// or https://; got something else';
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return 'must begin with http:// or https://; got another scheme';
  if (/\s/.test(text)) return 'must hold no spaces and line breaks; got one';
  // The gateway sends no user name and password of an address.
  if (username || password) return 'must hold no user name and password; got one';
  return search || hash ? 'must end with its path; got a `?` or `#` in it' : null;
}
