// The rule for the account of a page. Also used before the app has loaded.

/** Local-storage key of the last chosen account. */
export const storedName = 'tollgate.account';

/** Stays until the page is loaded again: a choice in another tab must not move a form elsewhere. */
let ownId: string | undefined;

/**
 * Returns the account in the address, else that of the page, which is the last one chosen or the first
 * when it was loaded. Null when the user cannot see it.
 */
export function chooseAccount<Account extends { readonly id: string }>(
  accounts: readonly Account[],
  requestedId: string | undefined = ownId,
): Account | null {
  const find = (id: string | null | undefined) => accounts.find((account) => account.id === id);
  if (requestedId !== undefined) return find(requestedId) ?? null;
  const chosen = find(readStoredId()) ?? accounts[0] ?? null;
  ownId = chosen?.id;
  return chosen;
}

/** Returns null when the browser forbids storage. */
function readStoredId(): string | null {
  try {
    return localStorage.getItem(storedName);
  } catch {
    return null;
  }
}
