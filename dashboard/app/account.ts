// What the address says of every page: the account and the mode, live or test. Links keep both.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { sessionQuery, useSession, type SessionInfo } from '../api/session.ts';
import { readStored, writeStored } from './stored.ts';

export type Account = SessionInfo['accounts'][number];
export type Mode = 'live' | 'test';

const storedName = 'account';

/** The account that the page is of: the address's, else the one last chosen, else the first. null: the address names one of others. */
function chooseAccount(accounts: readonly Account[], asked: string | undefined): Account | null {
  const find = (id: string | null | undefined) => accounts.find((account) => account.id === id);
  if (asked !== undefined) return find(asked) ?? null;
  return find(readStored(storedName)) ?? accounts[0] ?? null;
}

/** The chosen account. Only on pages of accounts: the shell shows them only when there is one. */
export function useAccount(): Account {
  const account = useChosenAccount();
  if (!account) throw new Error('This page is not one of an account.');
  return account;
}

export function useChosenAccount(): Account | null {
  return chooseAccount(useSession().accounts, useSearchText('account'));
}

/** For calls, also before anybody has signed in; null: none. */
export function useAccountId(): string | null {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  const asked = useSearchText('account');
  return data ? (chooseAccount(data.accounts, asked)?.id ?? null) : null;
}

/** Shows this page for another account, and remembers it. */
export function useSwitchAccount(): (id: string) => void {
  const navigate = useNavigate();
  return (id) => {
    writeStored(storedName, id);
    void navigate({ to: '/', search: (before) => ({ mode: before.mode, account: id }) });
  };
}

/** Whether live or test keys, requests and money are looked at. */
export function useMode(): Mode {
  return useSearchText('mode') === 'test' ? 'test' : 'live';
}

/** Shows the same page in the other mode. Filters stay; a page that is of one object only sees to it itself. */
export function useSetMode(): (mode: Mode) => void {
  const navigate = useNavigate();
  return (mode) => void navigate({ to: '.', search: (before) => ({ ...before, mode: mode === 'test' ? mode : undefined }) });
}

/** At least as much as `least` in the chosen account. */
export function useIsAtLeast(least: Account['role']): boolean {
  const ranks = { member: 0, admin: 1, owner: 2 };
  const account = useChosenAccount();
  return account !== null && ranks[account.role] >= ranks[least];
}

function useSearchText(name: 'account' | 'mode'): string | undefined {
  return useSearch({ strict: false, select: (search) => search[name] });
}
