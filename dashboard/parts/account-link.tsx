// Links to a page of the account that is shown: its own, or its tab on the operator's page of it.
import type { AnchorProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAccountInSight } from '../api/account-in-sight.ts';
import { AppLink } from './link.tsx';
import type { Search } from './url-state.ts';

type Props = AnchorProps & {
  readonly page: 'requests' | 'keys';
  /** Parameters of the page. */
  readonly filters?: Search;
  readonly 'aria-label'?: string | undefined;
  readonly children: ReactNode;
};

/** `<AccountLink page="requests" filters={{ key: 'key_1' }}>View requests</AccountLink>` */
export function AccountLink({ page, filters, ...anchor }: Props) {
  const inSight = useAccountInSight();
  if (!inSight)
    return (
      <AppLink
        to={`/${page}`}
        search={({ account, mode }) => ({ account, mode, ...filters })}
        {...anchor}
      />
    );
  const ledger = inSight.mode === 'test' ? 'test' : undefined;
  return (
    <AppLink
      to="/operator/accounts/$accountId"
      params={{ accountId: inSight.account.id }}
      search={({ account, mode }) => ({ account, mode, tab: page, ledger, ...filters })}
      {...anchor}
    />
  );
}
