// Layouts around the pages: of the whole app, of visitors, and of an account.
import { Alert, Anchor, Text } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { IconBuildingOff, IconSnowflake } from '@tabler/icons-react';
import { Outlet } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useChosenAccount } from '../api/account.ts';
import { useServiceName, useSession, useUser } from '../api/session.ts';
import { ConfirmationDialog } from '../parts/confirmation-dialog.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ButtonLink } from '../parts/link.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import classes from './layouts.module.css';
import { Logo } from './logo.tsx';
import { docsAddress } from './navigation.ts';

/** Around every page. Dialogs are inside the router, so their content can link to pages. */
export function Root() {
  return (
    <ModalsProvider>
      <Notifications position="bottom-right" containerWidth={380} />
      <Outlet />
      <ConnectionBanner />
      <ConfirmationDialog />
    </ModalsProvider>
  );
}

/** Around the pages of visitors who are not signed in. */
export function PublicLayout({ children = <Outlet /> }: { readonly children?: ReactNode }) {
  const name = useServiceName();
  return (
    <main className={classes.page}>
      <div className={classes.column}>
        <Logo name={name} />
        {children}
        <Text ta="center">
          <Anchor href={docsAddress}>Documentation</Anchor>
        </Text>
      </div>
    </main>
  );
}

/** Around the pages of an account. Explains what to do when there is no account to show. */
export function AccountLayout() {
  const { accounts } = useSession();
  const { is_operator: isOperator } = useUser();
  const account = useChosenAccount();
  if (account) {
    return (
      <>
        {account.frozen && <FrozenNotice />}
        {/* The key resets all page state when the account changes. */}
        <Outlet key={account.id} />
      </>
    );
  }
  if (accounts.length > 0) {
    return (
      <EmptyState
        icon={IconBuildingOff}
        title="You have no access to this account"
        text="The account does not exist, or you are not a member of it. Ask one of its owners for an invitation."
        action={
          <ButtonLink to="/" search={{ account: undefined }}>
            Open {accounts[0]!.name}
          </ButtonLink>
        }
      />
    );
  }
  return (
    <EmptyState
      icon={IconBuildingOff}
      title="You are not a member of any account"
      text="Ask an owner or admin of an account to invite you."
      action={
        isOperator ? <ButtonLink to="/operator/accounts">View all accounts</ButtonLink> : null
      }
    />
  );
}

function FrozenNotice() {
  return (
    <Alert
      color="orange"
      icon={<IconSnowflake aria-hidden />}
      title="This account is frozen"
      mb="md"
    >
      New requests are refused. Balance and keys are unchanged. Contact the operator of this
      service.
    </Alert>
  );
}
