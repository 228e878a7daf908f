// The key that this browser used last in the playground.
const nameOf = (scope: string) => `tollgate.playground.key.${scope}`;

/** Returns null when there is none, or when the browser forbids storage. */
export function readLastKey(scope: string): string | null {
  try {
    return localStorage.getItem(nameOf(scope));
  } catch {
    return null;
  }
}

export function rememberLastKey(scope: string, key: string): void {
  try {
    localStorage.setItem(nameOf(scope), key);
  } catch {
    // The browser forbids storage, so the account's key used last is offered next time.
  }
}
