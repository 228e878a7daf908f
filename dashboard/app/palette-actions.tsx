import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import {
  IconBook,
  IconBuildingBank,
  IconCreditCard,
  IconKey,
  IconLogout,
  IconMoon,
  IconSun,
  IconTestPipe,
  IconUserPlus,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useChosenAccount, useIsAtLeast, useMode, useSetMode } from '../api/account.ts';
import { api } from '../api/client.ts';
import { leaveAllTabs, useSession, useUser } from '../api/session.ts';
import { showError } from '../parts/notify.ts';
import { docsAddress } from './navigation.ts';
import type { Entry, Group } from './palette-entries.ts';

/** Returns what the user may do from every page. */
export function useActions(): readonly Group[] {
  const entries = [...useAccountActions(), ...useOperatorActions(), ...useOwnActions()];
  return [{ group: 'Actions', entries }];
}

function useAccountActions(): readonly Entry[] {
  const navigate = useNavigate();
  const account = useChosenAccount();
  const [isAdmin, isOwner] = [useIsAtLeast('admin'), useIsAtLeast('owner')];
  const { stripe: canPay } = useSession().features;
  const mode = useMode();
  const setMode = useSetMode();
  if (!account) return [];
  return [
    isAdmin && {
      id: 'create-key',
      label: 'Create key',
      keywords: 'new api key add',
      icon: IconKey,
      run: () => void navigate({ to: '/keys', search: (before) => ({ ...before, create: 'yes' }) }),
    },
    isOwner &&
      canPay && {
        id: 'top-up',
        label: 'Top up',
        keywords: 'pay card credit add money',
        icon: IconCreditCard,
        run: () =>
          void navigate({
            to: '/billing',
            search: ({ account: id }) => ({ account: id, pay: 'yes' }),
          }),
      },
    isAdmin && {
      id: 'members',
      label: 'Invite a member',
      keywords: 'people team',
      icon: IconUserPlus,
      run: () =>
        void navigate({ to: '/settings', search: (before) => ({ ...before, tab: 'members' }) }),
    },
    {
      id: 'mode',
      label: mode === 'test' ? 'Leave test mode' : 'Enter test mode',
      keywords: 'live sandbox',
      icon: IconTestPipe,
      run: () => setMode(mode === 'test' ? 'live' : 'test'),
    },
  ].filter((entry) => entry !== false);
}

function useOperatorActions(): readonly Entry[] {
  const navigate = useNavigate();
  if (!useUser().is_operator) return [];
  return [
    {
      id: 'accounts',
      label: 'Create or credit an account',
      keywords: 'customer new debit',
      icon: IconBuildingBank,
      run: () => void navigate({ to: '/operator/accounts' }),
    },
  ];
}

function useOwnActions(): readonly Entry[] {
  const scheme = useComputedColorScheme();
  const { setColorScheme } = useMantineColorScheme();
  const other = scheme === 'dark' ? 'light' : 'dark';
  return [
    {
      id: 'docs',
      label: 'Documentation',
      description: 'Guides, API reference and errors',
      keywords: 'help docs sdk curl',
      icon: IconBook,
      run: () => location.assign(docsAddress),
    },
    {
      id: 'scheme',
      label: `Switch to ${other} mode`,
      keywords: 'theme color appearance',
      icon: other === 'dark' ? IconMoon : IconSun,
      run: () => setColorScheme(other),
    },
    {
      id: 'sign-out',
      label: 'Sign out',
      keywords: 'log out leave',
      icon: IconLogout,
      run: () => void signOut(),
    },
  ];
}

async function signOut(): Promise<void> {
  try {
    await api('POST /auth/sign-out', {});
    await leaveAllTabs();
  } catch (error) {
    showError(error);
  }
}
