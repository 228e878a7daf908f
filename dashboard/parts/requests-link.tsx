// Links a figure to the requests behind it.
import type { ReactNode } from 'react';
import { AccountLink } from './account-link.tsx';
import classes from './figure-link.module.css';
import type { Search } from './url-state.ts';

type Props = {
  /** Parameters of the Requests page. */
  readonly filters: Search;
  readonly label?: string;
  readonly children: ReactNode;
};

/** `<RequestsLink filters={{ key: 'key_1', from, to }}>12</RequestsLink>` */
export function RequestsLink({ filters, label, children }: Props) {
  return (
    <AccountLink
      page="requests"
      filters={filters}
      aria-label={label}
      c="inherit"
      inherit
      className={classes.figure}
    >
      {children}
    </AccountLink>
  );
}
