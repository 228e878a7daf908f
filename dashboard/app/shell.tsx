// What is around every page of somebody signed in: navigation at the side, account, mode and user above it.
import { AppShell, Burger, Group, ScrollArea } from '@mantine/core';
import { useDisclosure, useWindowEvent } from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useServiceName, useUser } from '../api/session.ts';
import { useChosenAccount, useMode } from './account.ts';
import { AccountChooser } from './account-chooser.tsx';
import { JumpBox, JumpButton } from './jump-box.tsx';
import { Logo } from './logo.tsx';
import { ModeSwitch } from './mode-switch.tsx';
import { accountPages, operatorPages } from './navigation.ts';
import { NavigationList } from './navigation-list.tsx';
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
  // On a phone, choosing a page puts the navigation away.
  useEffect(close, [pathname, close]);
  const main = useFocusOfPage(pathname);
  return (
    <>
      <a href="#page" className={classes.skip}>
        Skip to the page
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
              <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Navigation" aria-expanded={isOpen} />
              <JumpButton />
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
              <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label="Close the navigation" />
            </Group>
            <AccountChooser />
          </AppShell.Section>
          <AppShell.Section grow component={ScrollArea} className={classes.pages}>
            {account && <NavigationList label="Account" items={accountPages} />}
            {!account && <NavigationList label="You" items={accountPages.filter(({ to }) => to === '/settings')} />}
            {isOperator && <NavigationList label="Operator" showsLabel items={operatorPages} />}
          </AppShell.Section>
        </AppShell.Navbar>
        <AppShell.Main>
          {isAccountPage && account && mode === 'test' && (
            <div className={classes.test} role="note">
              Test mode: the sandbox answers, and nothing costs money.
            </div>
          )}
          <div id="page" ref={main} tabIndex={-1} className={classes.page}>
            <Outlet />
          </div>
        </AppShell.Main>
      </AppShell>
      <JumpBox />
    </>
  );
}

/** After going to another page, keyboard and screen reader are at its beginning. */
function useFocusOfPage(pathname: string) {
  const main = useRef<HTMLDivElement>(null);
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    main.current?.focus({ preventScroll: true });
  }, [pathname]);
  return main;
}
