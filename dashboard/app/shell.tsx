// The frame of every signed-in page: navigation at the side; search, mode and user menu on top.
import { AppShell, Burger, Group, ScrollArea, Switch } from '@mantine/core';
import { useDisclosure, useWindowEvent } from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useServiceName, useUser } from '../api/session.ts';
import { useChosenAccount, useMode, useSetMode } from '../api/account.ts';
import { AccountChooser } from './account-chooser.tsx';
import { CommandPalette, CommandPaletteButton } from './command-palette.tsx';
import { Logo } from './logo.tsx';
import { accountPages, accountPagesFor, operatorPages } from './navigation.ts';
import { HelpLinks, NavigationList } from './navigation-list.tsx';
import classes from './shell.module.css';
import { UserMenu } from './user-menu.tsx';

export function Shell() {
  const name = useServiceName();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const { is_operator: isOperator } = useUser();
  const account = useChosenAccount();
  const mode = useMode();
  const { pathname } = useLocation();
  const isAccountPage = !pathname.startsWith('/operator') && pathname !== '/settings';
  useWindowEvent('keydown', (event) => {
    if (event.key === 'Escape') close();
  });
  // On a phone, opening a page closes the navigation.
  useEffect(close, [pathname, close]);
  const main = useFocusOnNavigation(pathname);
  return (
    <>
      <a href="#page" className={classes.skip}>
        Skip to content
      </a>
      <AppShell
        layout="alt"
        header={{ height: 56 }}
        navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
        classNames={{ navbar: classes.navbar, header: classes.header, main: classes.main }}
      >
        <AppShell.Header>
          <Group h="100%" px={{ base: 'md', sm: 'xl' }} justify="space-between" wrap="nowrap">
            <Group gap="sm" wrap="nowrap">
              <Burger
                opened={isOpen}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label="Navigation"
                aria-expanded={isOpen}
              />
              <CommandPaletteButton />
            </Group>
            <Group gap="sm" wrap="nowrap">
              {isAccountPage && account && <ModeSwitch />}
              <UserMenu />
            </Group>
          </Group>
        </AppShell.Header>
        <AppShell.Navbar data-closed={!isOpen || undefined}>
          <AppShell.Section className={classes.top}>
            <Group justify="space-between" wrap="nowrap">
              <Logo name={name} />
              <Burger
                opened={isOpen}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label="Close navigation"
              />
            </Group>
            <AccountChooser />
          </AppShell.Section>
          <AppShell.Section grow component={ScrollArea} className={classes.pages}>
            {account && <NavigationList label="Account" items={accountPagesFor(account.role)} />}
            {!account && (
              <NavigationList
                label="Personal"
                items={accountPages.filter(({ to }) => to === '/settings')}
              />
            )}
            {isOperator && <NavigationList label="Operator" showsLabel items={operatorPages} />}
            <HelpLinks />
          </AppShell.Section>
        </AppShell.Navbar>
        <AppShell.Main>
          {isAccountPage && account && mode === 'test' && (
            <div className={classes.test} role="note">
              Test mode: the sandbox answers and charges play money.
            </div>
          )}
          <div id="page" ref={main} tabIndex={-1} className={classes.page}>
            <Outlet />
          </div>
        </AppShell.Main>
      </AppShell>
      <CommandPalette />
    </>
  );
}

/** Switches all pages between live and test keys, requests and money. */
function ModeSwitch() {
  const mode = useMode();
  const setMode = useSetMode();
  return (
    <Switch
      color="orange"
      size="sm"
      labelPosition="left"
      label="Test mode"
      checked={mode === 'test'}
      onChange={(event) => setMode(event.currentTarget.checked ? 'test' : 'live')}
    />
  );
}

/** Moves keyboard and screen-reader focus to the start of each new page. */
function useFocusOnNavigation(pathname: string) {
  const main = useRef<HTMLDivElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return main;
}
