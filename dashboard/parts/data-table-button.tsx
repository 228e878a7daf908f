import { UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './data-table.module.css';

type Props = {
  /** The row's key. */
  readonly row: string;
  readonly onOpen: () => void;
  readonly children: ReactNode;
};

/** The part of a row that opens it with the keyboard. */
export function OpenButton({ row, onOpen, children }: Props) {
  return (
    <UnstyledButton className={classes.open} data-row={row} onClick={onOpen}>
      {children}
    </UnstyledButton>
  );
}

/** Focuses a row's button, from which Enter opens the row. */
export function focusRow(row: string): void {
  document.querySelector<HTMLElement>(`[data-row="${CSS.escape(row)}"]`)?.focus();
}

/** Focuses the row after the focused one, or before it; the first row if none is focused. */
export function moveFocus(by: 1 | -1): void {
  // A dialog or menu on top of the list has the keyboard.
  if (document.querySelector('[role="dialog"], [role="menu"]')) return;
  const buttons = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  buttons[at === -1 ? 0 : at + by]?.focus();
}
