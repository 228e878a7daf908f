// The frame of every signed-in page: navigation at the side; search, mode and user menu on top.
import { AppShell, Burger, Group, ScrollArea, Switch } from '@mantine/core';
import {
  useClickOutside,
  useDisclosure,
  useHotkeys,
  useLocalStorage,
  useWindowEvent,
} from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { useServiceName, useUser } from '../api/session.ts';
import { useChosenAccount, useMode, useSetMode } from '../api/account.ts';
import { useIsPhone, useIsWide } from '../parts/screen.ts';
import { AccountChooser } from './account-chooser.tsx';
import { CommandPalette, CommandPaletteButton } from './command-palette.tsx';
import { Logo } from './logo.tsx';
import { accountPages, accountPagesFor, operatorPages } from './navigation.ts';
import { FoldButton, HelpLinks, NavigationList } from './navigation-list.tsx';
import classes from './shell.module.css';
import { UserMenu } from './user-menu.tsx';

export function Shell({ children = <Outlet /> }: { readonly children?: ReactNode }) {
  const name = useServiceName();
  const { is_operator: isOperator } = useUser();
  const account = useChosenAccount();
  const mode = useMode();
  const { pathname } = useLocation();
  const { isOpen, isFolded, toggle, navbar } = useNavigation(pathname);
  const isAccountPage = !pathname.startsWith('/operator') && pathname !== '/settings';
  const main = useFocusOnNavigation(pathname);
  return (
    <>
      <a href="#page" className={classes.skip}>
        Skip to content
      </a>
      <AppShell
        layout="alt"
        header={{ height: 56 }}
        navbar={{
          width: { sm: 64, md: isFolded ? 64 : 240 },
          breakpoint: 'sm',
          collapsed: { mobile: !isOpen },
        }}
        classNames={{ navbar: classes.navbar, header: classes.header, main: classes.main }}
      >
        <AppShell.Header>
          <Group h="100%" px={{ base: 'md', md: 'xl' }} justify="space-between" wrap="nowrap">
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
        <AppShell.Navbar
          ref={navbar}
          data-closed={!isOpen || undefined}
          data-folded={isFolded || undefined}
        >
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
            {account && (
              <NavigationList
                label="Account"
                items={accountPagesFor(account.role)}
                isFolded={isFolded}
              />
            )}
            {!account && (
              <NavigationList
                label="Personal"
                items={accountPages.filter(({ to }) => to === '/settings')}
                isFolded={isFolded}
              />
            )}
            {isOperator && (
              <NavigationList
                label="Operator"
                showsLabel
                items={operatorPages}
                isFolded={isFolded}
              />
            )}
            <HelpLinks isFolded={isFolded} />
          </AppShell.Section>
          <AppShell.Section visibleFrom="sm" className={classes.fold}>
            <FoldButton isFolded={isFolded} toggle={toggle} />
          </AppShell.Section>
        </AppShell.Navbar>
        <AppShell.Main>
          {isAccountPage && account && mode === 'test' && (
            <div className={classes.test} role="note">
              Test mode: the sandbox answers and charges play money.
            </div>
          )}
          <div id="page" ref={main} tabIndex={-1} className={classes.page}>
            {children}
          </div>
        </AppShell.Main>
      </AppShell>
      <CommandPalette />
    </>
  );
}

/**
 * On a desktop the navigation is folded to icons or not, and the browser keeps the choice. On a
 * tablet it is folded, and opens over the page; on a phone it is closed until then.
 */
function useNavigation(pathname: string) {
  const [isPhone, isWide] = [useIsPhone(), useIsWide()];
  const [isOver, { toggle, close }] = useDisclosure(false);
  const [isKeptFolded, setKeptFolded] = useLocalStorage({
    key: 'tollgate.navigation-folded',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const isOpen = isWide ? !isKeptFolded : isOver;
  const change = isWide ? () => setKeptFolded(isOpen) : toggle;
  useHotkeys([['mod+B', change]]);
  useWindowEvent('keydown', (event) => {
    if (event.key === 'Escape') close();
  });
  useEffect(close, [pathname, close]);
  const navbar = useClickOutside<HTMLDivElement>(close);
  return { isOpen, isFolded: !isOpen && !isPhone, toggle: change, navbar };
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
