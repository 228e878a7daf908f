// Pages of an account are shown when there is one: who belongs to none, or follows a link to one of others, is told.
import { IconBuildingOff } from '@tabler/icons-react';
import { Outlet } from '@tanstack/react-router';
import { useSession, useUser } from '../api/session.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ButtonLink } from '../parts/link.tsx';
import { useChosenAccount } from './account.ts';

export function AccountPages() {
  const { accounts } = useSession();
  const { is_operator: isOperator } = useUser();
  const account = useChosenAccount();
  // A page is of one account: another's begins anew, with nothing of the first in its state.
  if (account) return <Outlet key={account.id} />;
  if (accounts.length > 0) {
    return (
      <EmptyState
        icon={IconBuildingOff}
        title="This account is not yours"
        text="The link leads to an account that does not exist, or that you are not a member of. Ask one of its owners for an invitation."
        action={
          <ButtonLink to="/" search={{ account: undefined }}>
            Show {accounts[0]!.name}
          </ButtonLink>
        }
      />
    );
  }
  return (
    <EmptyState
      icon={IconBuildingOff}
      title="You belong to no account yet"
      text="An owner of an account can invite you by your e-mail address."
      action={isOperator ? <ButtonLink to="/operator/accounts">Accounts of this service</ButtonLink> : null}
    />
  );
}
