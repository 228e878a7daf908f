import { UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './data-table.module.css';

type Props = { readonly onOpen: () => void; readonly children: ReactNode };

/** The part of a row that opens it with the keyboard. */
export function OpenButton({ onOpen, children }: Props) {
  return (
    <UnstyledButton className={classes.open} onClick={onOpen}>
      {children}
    </UnstyledButton>
  );
}
