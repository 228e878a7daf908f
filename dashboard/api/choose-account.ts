// The rule for the account of a page. Also used before the app has loaded.

/** Local-storage key of the last chosen account. */
export const storedName = 'tollgate.account';

/**
 * Returns the account in the address, else the last one chosen, else the first. Null when the
 * address names an account that the user cannot see.
 */
export function chooseAccount<Account extends { readonly id: string }>(
  accounts: readonly Account[],
  requestedId: string | undefined,
): Account | null {
  const find = (id: string | null | undefined) => accounts.find((account) => account.id === id);
  if (requestedId !== undefined) return find(requestedId) ?? null;
  return find(readStoredId()) ?? accounts[0] ?? null;
}

/** Returns null when the browser forbids storage. */
function readStoredId(): string | null {
  try {
    return localStorage.getItem(storedName);
  } catch {
    return null;
  }
}
