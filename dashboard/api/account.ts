// The chosen account and mode (live or test). Both are in every page's address, and links keep
// them.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { sessionQuery, useSession, type SessionInfo } from './session.ts';

export type Account = SessionInfo['accounts'][number];
export type Mode = 'live' | 'test';

/** Local-storage key of the last chosen account. */
const storedName = 'tollgate.account';

/**
 * Returns the account in the address, else the last one chosen, else the first. Null when the
 * address names an account that the user cannot see.
 */
function chooseAccount(
  accounts: readonly Account[],
  requestedId: string | undefined,
): Account | null {
  const find = (id: string | null | undefined) => accounts.find((account) => account.id === id);
  if (requestedId !== undefined) return find(requestedId) ?? null;
  return find(readStoredId()) ?? accounts[0] ?? null;
}

/** Returns the chosen account. For account pages only: they are shown only when there is one. */
export function useAccount(): Account {
  const account = useChosenAccount();
  if (!account) throw new Error('No account is chosen.');
  return account;
}

export function useChosenAccount(): Account | null {
  return chooseAccount(useSession().accounts, useSearchText('account'));
}

/** Returns the id for API calls; null when there is none. Works before sign-in too. */
export function useAccountId(): string | null {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  const requestedId = useSearchText('account');
  return data ? (chooseAccount(data.accounts, requestedId)?.id ?? null) : null;
}

/** Switches to another account's overview and remembers the choice. */
export function useSwitchAccount(): (id: string) => void {
  const navigate = useNavigate();
  return (id) => {
    storeId(id);
    void navigate({ to: '/', search: (before) => ({ mode: before.mode, account: id }) });
  };
}

/** Returns the mode of the keys, requests and money on the page. */
export function useMode(): Mode {
  return useSearchText('mode') === 'test' ? 'test' : 'live';
}

/** Shows the same page in the other mode. Filters stay. */
export function useSetMode(): (mode: Mode) => void {
  const navigate = useNavigate();
  return (mode) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, mode: mode === 'test' ? mode : undefined }),
    });
}

/** Returns true when the user's role in the chosen account is `least` or higher. */
export function useIsAtLeast(least: Account['role']): boolean {
  const ranks = { member: 0, admin: 1, owner: 2 };
  const account = useChosenAccount();
  return account !== null && ranks[account.role] >= ranks[least];
}

function useSearchText(name: 'account' | 'mode'): string | undefined {
  return useSearch({ strict: false, select: (search) => search[name] });
}

/** Returns null when the browser forbids storage. */
function readStoredId(): string | null {
  try {
    return localStorage.getItem(storedName);
  } catch {
    return null;
  }
}

function storeId(id: string): void {
  try {
    localStorage.setItem(storedName, id);
  } catch {
    // The browser forbids storage, so the choice lasts as long as the page.
  }
}
