// The chosen account and mode (live or test). Links keep those that are in the address.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Mode } from '../../src/management/contract/common.ts';
import { useAccountInSight } from './account-in-sight.ts';
import { chooseAccount, storedName } from './choose-account.ts';
import { sessionQuery, useSession, type SessionInfo } from './session.ts';

export type Account = SessionInfo['accounts'][number];
export type { Mode };

/** Returns the chosen account. For account pages only: they are shown only when there is one. */
export function useAccount(): Account {
  const account = useChosenAccount();
  if (!account) throw new Error('No account is chosen.');
  return account;
}

export function useChosenAccount(): Account | null {
  const chosen = chooseAccount(useSession().accounts, useSearchText('account'));
  return useAccountInSight()?.account ?? chosen;
}

/** Returns the id for API calls; null when there is none. Works before sign-in too. */
export function useAccountId(): string | null {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  const requestedId = useSearchText('account');
  const inSight = useAccountInSight();
  if (inSight) return inSight.account.id;
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
  const chosen = useSearchText('mode') === 'test' ? 'test' : 'live';
  return useAccountInSight()?.mode ?? chosen;
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
  const ranks = { viewer: 0, member: 1, admin: 2, owner: 3 };
  const account = useChosenAccount();
  return account !== null && ranks[account.role] >= ranks[least];
}

function useSearchText(name: 'account' | 'mode'): string | undefined {
  return useSearch({ strict: false, select: (search) => search[name] });
}

function storeId(id: string): void {
  try {
    localStorage.setItem(storedName, id);
  } catch {
    // The browser forbids storage, so the choice lasts as long as the page.
  }
}
