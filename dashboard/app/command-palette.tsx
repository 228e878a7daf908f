// Command palette (`mod+K`): opens any page by a few letters of its name.
import {
  Kbd,
  Text,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import { useOs } from '@mantine/hooks';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { IconBook, IconMoon, IconSearch, IconSun, IconTestPipe } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useUser } from '../api/session.ts';
import { useChosenAccount, useMode, useSetMode } from '../api/account.ts';
import classes from './command-palette.module.css';
import {
  accountPages,
  accountPagesFor,
  docsAddress,
  operatorPages,
  type NavigationItem,
} from './navigation.ts';

export function CommandPalette() {
  const navigate = useNavigate();
  const { is_operator: isOperator } = useUser();
  const account = useChosenAccount();
  const mode = useMode();
  const setMode = useSetMode();
  const scheme = useComputedColorScheme();
  const { setColorScheme } = useMantineColorScheme();
  const otherScheme = scheme === 'dark' ? 'light' : 'dark';
  const actionOf = ({ to, label, description, keywords, icon: Icon }: NavigationItem) => ({
    id: to,
    label,
    description,
    keywords: keywords.split(' '),
    leftSection: <Icon size={20} stroke={1.6} aria-hidden />,
    onClick: () => void navigate({ to }),
  });
  const pages = account
    ? accountPagesFor(account.role)
    : accountPages.filter(({ to }) => to === '/settings');
  return (
    <Spotlight
      shortcut="mod + K"
      highlightQuery
      overlayProps={{ backgroundOpacity: 0.45, blur: 2 }}
      attributes={{ content: { 'aria-label': 'Go to a page' } }}
      nothingFound="No matching pages"
      searchProps={{
        placeholder: 'Go to…',
        'aria-label': 'Go to a page',
        leftSection: <IconSearch size={18} aria-hidden />,
      }}
      actions={[
        { group: 'Pages', actions: pages.map(actionOf) },
        ...(isOperator ? [{ group: 'Operator', actions: operatorPages.map(actionOf) }] : []),
        {
          group: 'Actions',
          actions: [
            {
              id: 'docs',
              label: 'Documentation',
              description: 'Guides, API reference and errors',
              keywords: ['help', 'docs', 'sdk', 'curl'],
              leftSection: <IconBook size={20} stroke={1.6} aria-hidden />,
              onClick: () => location.assign(docsAddress),
            },
            ...(account
              ? [
                  {
                    id: 'mode',
                    label: mode === 'test' ? 'Leave test mode' : 'Enter test mode',
                    keywords: ['live', 'sandbox'],
                    leftSection: <IconTestPipe size={20} stroke={1.6} aria-hidden />,
                    onClick: () => setMode(mode === 'test' ? 'live' : 'test'),
                  },
                ]
              : []),
            {
              id: 'scheme',
              label: `Switch to ${otherScheme} mode`,
              keywords: ['theme', 'color'],
              leftSection:
                otherScheme === 'dark' ? (
                  <IconMoon size={20} stroke={1.6} aria-hidden />
                ) : (
                  <IconSun size={20} stroke={1.6} aria-hidden />
                ),
              onClick: () => setColorScheme(otherScheme),
            },
          ],
        },
      ]}
    />
  );
}

/** Looks like a search field and opens the palette. */
export function CommandPaletteButton() {
  const isMac = useOs() === 'macos';
  return (
    <UnstyledButton className={classes.button} onClick={spotlight.open}>
      <VisuallyHidden>Go to a page</VisuallyHidden>
      <IconSearch size={16} aria-hidden />
      <Text size="md" visibleFrom="sm" aria-hidden>
        Go to…
      </Text>
      <Kbd size="xs" visibleFrom="sm" ml="auto" aria-hidden>
        {isMac ? '⌘ K' : 'Ctrl K'}
      </Kbd>
    </UnstyledButton>
  );
}
