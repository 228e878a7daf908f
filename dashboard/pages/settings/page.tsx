// Settings: of the person who is signed in, and of the account.
import { Stack, Tabs } from '@mantine/core';
import { useUrlState } from '../../app/url-state.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { AccountPanel } from './account-panel.tsx';
import { MembersPanel } from './members-panel.tsx';
import { PasswordPanel } from './password-panel.tsx';
import { ProfilePanel } from './profile-panel.tsx';
import { SecondFactorPanel } from './second-factor-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';

export function Page() {
  const [tab, setTab] = useUrlState((search) => (search['tab'] === 'account' ? 'account' : 'you'));
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs value={tab} onChange={(value) => setTab({ tab: value === 'account' ? value : undefined })} keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="you">You</Tabs.Tab>
          <Tabs.Tab value="account">Account</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="you">
          <Stack gap="lg">
            <ProfilePanel />
            <PasswordPanel />
            <SecondFactorPanel />
            <SessionsPanel />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="account">
          <Stack gap="lg">
            <AccountPanel />
            <MembersPanel />
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
