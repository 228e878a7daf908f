// Settings of the user and of the chosen account.
import { SimpleGrid, Stack, Tabs } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useChosenAccount, useIsAtLeast } from '../../api/account.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { Invitations } from '../../parts/invitations.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { AccountPanel } from './account-panel.tsx';
import { ChangesPanel } from './changes-panel.tsx';
import { MembersPanel } from './members-panel.tsx';
import { OwnKeysPanel } from './own-keys-panel.tsx';
import { PasskeysPanel } from './passkeys-panel.tsx';
import { PasswordPanel } from './password-panel.tsx';
import { ProfilePanel } from './profile-panel.tsx';
import { SecondFactorPanel } from './second-factor-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';
import { shownTab, tabsFor } from './tabs.ts';

const TelemetryPanel = lazy(async () => ({
  default: (await import('./telemetry-panel.tsx')).TelemetryPanel,
}));

export function Page() {
  const account = useChosenAccount();
  const isAdmin = useIsAtLeast('admin');
  const tabs = tabsFor(account);
  const [tab, setTab] = useUrlState((search) => shownTab(tabs, search.tab));
  return (
    <>
      <PageHeader title="Settings" description="Your profile and this account." />
      <Tabs
        value={tab}
        onChange={(value) =>
          setTab({ tab: value === 'profile' ? undefined : (value ?? undefined) })
        }
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
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
            <ProfilePanel />
            <PasswordPanel />
          </SimpleGrid>
        </Tabs.Panel>
        <Tabs.Panel value="security">
          <Stack gap="lg">
            <SecondFactorPanel />
            <PasskeysPanel />
            <SessionsPanel />
          </Stack>
        </Tabs.Panel>
        {/* The keys reset these panels when the account changes. */}
        <Tabs.Panel value="account" key={`account ${account?.id}`}>
          <AccountPanel />
        </Tabs.Panel>
        <Tabs.Panel value="members" key={`members ${account?.id}`}>
          <Stack gap="lg">
            <MembersPanel />
            {isAdmin && <Invitations />}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="traces" key={`traces ${account?.id}`}>
          <Suspense>
            <TelemetryPanel />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="own-keys" key={`own-keys ${account?.id}`}>
          <OwnKeysPanel />
        </Tabs.Panel>
        <Tabs.Panel value="changes" key={`changes ${account?.id}`}>
          <ChangesPanel />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}
