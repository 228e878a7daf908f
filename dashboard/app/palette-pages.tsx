import { useNavigate } from '@tanstack/react-router';
import { useChosenAccount } from '../api/account.ts';
import { useUser } from '../api/session.ts';
import { accountPages, accountPagesFor, operatorPages, type NavigationItem } from './navigation.ts';
import type { Entry, Group } from './palette-entries.ts';

/** Returns the pages that the user can open. */
export function usePages(): readonly Group[] {
  const navigate = useNavigate();
  const { is_operator: isOperator } = useUser();
  const account = useChosenAccount();
  const entryOf = ({ to, ...item }: NavigationItem): Entry => ({
    id: to,
    ...item,
    run: () => void navigate({ to }),
  });
  const pages = account
    ? accountPagesFor(account.role)
    : accountPages.filter(({ to }) => to === '/settings');
  return [
    { group: 'Pages', entries: pages.map(entryOf) },
    ...(isOperator ? [{ group: 'Operator', entries: operatorPages.map(entryOf) }] : []),
  ];
}
