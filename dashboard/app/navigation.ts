// Every page in the side navigation and the command palette (`mod+K`).
import {
  IconActivity,
  IconBell,
  IconBook2,
  IconBuildingBank,
  IconCash,
  IconChartBar,
  IconClipboardList,
  IconCreditCard,
  IconCube,
  IconHome,
  IconKey,
  IconLayoutDashboard,
  IconMessages,
  IconPlugConnected,
  IconSettings,
  IconStack2,
  IconUsers,
  IconAdjustments,
  IconApi,
  type IconProps,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { Account } from '../api/account.ts';

export type NavigationItem = {
  readonly to:
    | '/'
    | '/keys'
    | '/requests'
    | '/batches'
    | '/analytics'
    | '/models'
    | '/playground'
    | '/billing'
    | '/alerts'
    | '/settings'
    | '/operator'
    | '/operator/accounts'
    | '/operator/keys'
    | '/operator/admin-keys'
    | '/operator/users'
    | '/operator/payments'
    | '/operator/providers'
    | '/operator/catalogue'
    | '/operator/alerts'
    | '/operator/settings'
    | '/operator/audit';
  readonly label: string;
  readonly icon: ComponentType<IconProps>;
  /** Further words that find the page in the command palette. */
  readonly keywords: string;
  readonly description: string;
};

/** Served by the gateway beside the app, so a link there leaves the app. */
export const docsAddress = '/docs';

export const accountPages: readonly NavigationItem[] = [
  {
    to: '/',
    label: 'Overview',
    icon: IconLayoutDashboard,
    keywords: 'home balance chart spend',
    description: 'Balance, spending and recent errors',
  },
  {
    to: '/keys',
    label: 'Keys',
    icon: IconKey,
    keywords: 'api key cap limit revoke',
    description: 'Create keys and set their caps',
  },
  {
    to: '/requests',
    label: 'Requests',
    icon: IconActivity,
    keywords: 'usage log failed errors cached export csv cost',
    description: 'Every request, its outcome and cost',
  },
  {
    to: '/batches',
    label: 'Batches',
    icon: IconStack2,
    keywords: 'batch lines jobs queue half price cancel',
    description: 'Batches, how far they are and what they cost',
  },
  {
    to: '/analytics',
    label: 'Analytics',
    icon: IconChartBar,
    keywords: 'cost spend tags members providers latency p95 errors cache compare heat',
    description: 'Costs, errors and latencies of any days',
  },
  {
    to: '/models',
    label: 'Models',
    icon: IconCube,
    keywords: 'prices catalogue context',
    description: 'Available models and their prices',
  },
  {
    to: '/playground',
    label: 'Playground',
    icon: IconMessages,
    keywords: 'chat try image',
    description: 'Try a model',
  },
  {
    to: '/billing',
    label: 'Billing',
    icon: IconCreditCard,
    keywords: 'top up credit ledger invoice',
    description: 'Top-ups and charges',
  },
  {
    to: '/alerts',
    label: 'Alerts',
    icon: IconBell,
    keywords: 'webhook slack e-mail notify low balance cap warning',
    description: 'Webhooks, e-mail and Slack for the account’s events',
  },
  {
    to: '/settings',
    label: 'Settings',
    icon: IconSettings,
    keywords: 'members invite password two-factor sessions profile',
    description: 'Your profile, the account and its members',
  },
];

/** The account's pages for a user with this role. */
export function accountPagesFor(role: Account['role']): readonly NavigationItem[] {
  return accountPages.filter(
    ({ to }) =>
      (to !== '/playground' || role !== 'viewer') && (to !== '/alerts' || role === 'owner'),
  );
}

export const operatorPages: readonly NavigationItem[] = [
  {
    to: '/operator',
    label: 'Home',
    icon: IconHome,
    keywords: 'operator revenue cost margin losses report backup',
    description: 'Revenue, cost and what needs attention',
  },
  {
    to: '/operator/accounts',
    label: 'Accounts',
    icon: IconBuildingBank,
    keywords: 'operator credit debit freeze customers',
    description: 'All accounts',
  },
  {
    to: '/operator/keys',
    label: 'All keys',
    icon: IconKey,
    keywords: 'operator keys',
    description: 'Keys of all accounts',
  },
  {
    to: '/operator/admin-keys',
    label: 'Admin keys',
    icon: IconApi,
    keywords: 'operator admin api shop program scope',
    description: 'Keys of programs that use the admin API',
  },
  {
    to: '/operator/users',
    label: 'Users',
    icon: IconUsers,
    keywords: 'operator people password reset sign-in',
    description: 'Everyone who can sign in',
  },
  {
    to: '/operator/payments',
    label: 'Payments',
    icon: IconCash,
    keywords: 'operator stripe card unmatched',
    description: 'Payments by card, and those without an account',
  },
  {
    to: '/operator/providers',
    label: 'Providers',
    icon: IconPlugConnected,
    keywords: 'operator health latency errors',
    description: 'Health and latency of providers',
  },
  {
    to: '/operator/catalogue',
    label: 'Catalogue',
    icon: IconBook2,
    keywords: 'operator models prices routes',
    description: 'Models, prices and routes',
  },
  {
    to: '/operator/alerts',
    label: 'Alerts',
    icon: IconBell,
    keywords: 'operator webhook slack e-mail notify',
    description: 'Webhooks, e-mail and Slack for the operators’ events',
  },
  {
    to: '/operator/settings',
    label: 'Configuration',
    icon: IconAdjustments,
    keywords: 'operator settings config',
    description: 'Settings of this gateway',
  },
  {
    to: '/operator/audit',
    label: 'Audit log',
    icon: IconClipboardList,
    keywords: 'operator changes history who',
    description: 'Who changed what, and when',
  },
];
