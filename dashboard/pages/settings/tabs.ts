// Which tabs there are: those of an account only for who belongs to one.
const own = [
  { name: 'profile', title: 'Profile' },
  { name: 'security', title: 'Security' },
] as const;
const ofAccount = [
  { name: 'account', title: 'Account' },
  { name: 'members', title: 'Members' },
] as const;

type Tab = (typeof own)[number] | (typeof ofAccount)[number];

export function tabsFor(account: object | null): readonly Tab[] {
  return account ? [...own, ...ofAccount] : own;
}

/** What the address asks for, or the first. */
export function shownTab(tabs: readonly Tab[], asked: string | undefined): Tab['name'] {
  return tabs.find(({ name }) => name === asked)?.name ?? 'profile';
}
