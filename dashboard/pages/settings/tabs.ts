// The tabs of the settings page. Account tabs need an account.
const userTabs = [
  { name: 'profile', title: 'Profile' },
  { name: 'security', title: 'Security' },
] as const;
const accountTabs = [
  { name: 'account', title: 'Account' },
  { name: 'members', title: 'Members' },
] as const;

type Tab = (typeof userTabs)[number] | (typeof accountTabs)[number];

export function tabsFor(account: object | null): readonly Tab[] {
  return account ? [...userTabs, ...accountTabs] : userTabs;
}

/** Returns the tab in the address, or the first one. */
export function shownTab(tabs: readonly Tab[], requested: string | undefined): Tab['name'] {
  return tabs.find(({ name }) => name === requested)?.name ?? 'profile';
}
