import { Text } from '@mantine/core';
import { IconBook } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { docsAddress, type NavigationItem } from './navigation.ts';
import classes from './navigation-list.module.css';

type Props = {
  readonly label: string;
  readonly showsLabel?: boolean;
  readonly items: readonly NavigationItem[];
};

/** Links to pages. The current page is marked, also for screen readers. */
export function NavigationList({ label, showsLabel = false, items }: Props) {
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
            <Link
              to={to}
              activeOptions={{ exact: to === '/' || to === '/operator', includeSearch: false }}
              className={classes.link}
            >
              <Icon size={18} stroke={1.6} aria-hidden />
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The link to what the gateway serves beside the app. */
export function HelpLinks() {
  return (
    <nav aria-label="Help" className={classes.list}>
      <ul>
        <li>
          <a href={docsAddress} className={classes.link}>
            <IconBook size={18} stroke={1.6} aria-hidden />
            Documentation
          </a>
        </li>
      </ul>
    </nav>
  );
}
