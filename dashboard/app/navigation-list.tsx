import { Kbd, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { useOs } from '@mantine/hooks';
import {
  IconBook,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { docsAddress, type NavigationItem } from './navigation.ts';
import classes from './navigation-list.module.css';

type Props = {
  readonly label: string;
  readonly showsLabel?: boolean;
  readonly items: readonly NavigationItem[];
} & Folded;

/** True: only icons are shown, with tooltips. */
type Folded = { readonly isFolded: boolean };

/** Links to pages. The current page is marked, also for screen readers. */
export function NavigationList({ label, showsLabel = false, items, isFolded }: Props) {
  return (
    <nav aria-label={label} className={classes.list}>
      {showsLabel && (
        <Text className={classes.label} aria-hidden>
          {label}
        </Text>
      )}
      <ul>
        {items.map(({ to, label: name, icon: Icon }) => (
          <li key={to}>
            <Named name={name} isFolded={isFolded}>
              <Link
                to={to}
                activeOptions={{ exact: to === '/' || to === '/operator', includeSearch: false }}
                className={classes.link}
              >
                <Icon size={18} stroke={1.6} aria-hidden />
                <span className={classes.name}>{name}</span>
              </Link>
            </Named>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The link to what the gateway serves beside the app. */
export function HelpLinks({ isFolded }: Folded) {
  return (
    <nav aria-label="Help" className={classes.list}>
      <ul>
        <li>
          <Named name="Documentation" isFolded={isFolded}>
            <a href={docsAddress} className={classes.link}>
              <IconBook size={18} stroke={1.6} aria-hidden />
              <span className={classes.name}>Documentation</span>
            </a>
          </Named>
        </li>
      </ul>
    </nav>
  );
}

/** Folds the navigation to icons, and back. `Ctrl B` does the same. */
export function FoldButton({ isFolded, toggle }: Folded & { readonly toggle: () => void }) {
  const keys = useOs() === 'macos' ? '⌘ B' : 'Ctrl B';
  const name = isFolded ? 'Unfold navigation' : 'Fold navigation';
  const Icon = isFolded ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  return (
    <Named name={`${name} (${keys})`} isFolded={isFolded}>
      <UnstyledButton className={classes.link} w="100%" onClick={toggle}>
        <Icon size={18} stroke={1.6} aria-hidden />
        <span className={classes.name}>{name}</span>
        <Kbd size="xs" ml="auto" className={classes.keys} aria-hidden>
          {keys}
        </Kbd>
      </UnstyledButton>
    </Named>
  );
}

function Named({
  name,
  isFolded,
  children,
}: Folded & { readonly name: string; readonly children: ReactElement }) {
  return (
    <Tooltip label={name} position="right" disabled={!isFolded}>
      {children}
    </Tooltip>
  );
}
