// The tabs of the settings page. Account tabs need an account.
const userTabs = [
  { name: 'profile', title: 'Profile' },
  { name: 'security', title: 'Security' },
] as const;
const accountTabs = [
  { name: 'account', title: 'Account' },
  { name: 'members', title: 'Members' },
] as const;
const adminTabs = [{ name: 'traces', title: 'Traces' }] as const;
const ownerTabs = [
  { name: 'own-keys', title: 'Own keys' },
  { name: 'changes', title: 'Audit log' },
] as const;

type Tab =
  | (typeof userTabs)[number]
  | (typeof accountTabs)[number]
  | (typeof adminTabs)[number]
  | (typeof ownerTabs)[number];

export function tabsFor(account: { readonly role: string } | null): readonly Tab[] {
  if (!account) return userTabs;
  return [
    ...userTabs,
    ...accountTabs,
    ...(account.role === 'owner' || account.role === 'admin' ? adminTabs : []),
    ...(account.role === 'owner' ? ownerTabs : []),
  ];
}

/** Returns the tab in the address, or the first one. */
export function shownTab(tabs: readonly Tab[], requested: string | undefined): Tab['name'] {
  return tabs.find(({ name }) => name === requested)?.name ?? 'profile';
}
