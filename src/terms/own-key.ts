// Own keys: credentials that an account brings for a provider, which is then paid by the account.

const suffix = ':own';

/**
 * Returns what the provider is called in headers, logs, books and reports when it was called with an
 * account's own key. No name in the configuration has a colon.
 */
export function ownKeyName(provider: string): string {
  return provider + suffix;
}

export function isOwnKeyName(name: string): boolean {
  return name.endsWith(suffix);
}

/** Returns the provider's name in the configuration. */
export function withoutOwnKey(name: string): string {
  return isOwnKeyName(name) ? name.slice(0, -suffix.length) : name;
}
