// Settings: of the person who is signed in, and of the account that is chosen, where there is one.
import { Stack, Tabs } from '@mantine/core';
import { useChosenAccount } from '../../app/account.ts';
import { useUrlState } from '../../app/url-state.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { AccountPanel } from './account-panel.tsx';
import { InvitationsPanel } from './invitations-panel.tsx';
import { MembersPanel } from './members-panel.tsx';
import { PasswordPanel } from './password-panel.tsx';
import { ProfilePanel } from './profile-panel.tsx';
import { SecondFactorPanel } from './second-factor-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';
import { shownTab, tabsFor } from './tabs.ts';

export function Page() {
  const account = useChosenAccount();
  const tabs = tabsFor(account);
  const [tab, setTab] = useUrlState((search) => shownTab(tabs, search.tab));
  return (
    <>
      <PageHeader title="Settings" description="Your own, and those of the account." />
      <Tabs
        value={tab}
        onChange={(value) => setTab({ tab: value === 'profile' ? undefined : (value ?? undefined) })}
        keepMounted={false}
      >
        <Tabs.List aria-label="Settings" mb="lg">
          {tabs.map(({ name, title }) => (
            <Tabs.Tab key={name} value={name}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="profile">
          <Stack gap="lg">
            <ProfilePanel />
            <PasswordPanel />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="security">
          <Stack gap="lg">
            <SecondFactorPanel />
            <SessionsPanel />
          </Stack>
        </Tabs.Panel>
        {/* Of one account: another's begin anew. */}
        <Tabs.Panel value="account" key={`account ${account?.id}`}>
          <AccountPanel />
        </Tabs.Panel>
        <Tabs.Panel value="members" key={`members ${account?.id}`}>
          <Stack gap="lg">
            <MembersPanel />
            <InvitationsPanel />
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
