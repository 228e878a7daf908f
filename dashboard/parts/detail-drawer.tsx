// A drawer with the details of one list item.
import { Drawer, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLast } from './use-last.ts';

type DetailDrawerProps<Item> = {
  /** Null closes the drawer. */
  readonly item: Item | null;
  readonly onClose: () => void;
  readonly title: (item: Item) => string;
  readonly children: (item: Item) => ReactNode;
};

export function DetailDrawer<Item>({ item, onClose, title, children }: DetailDrawerProps<Item>) {
  // Keeps the content visible while the drawer slides out.
  const shown = useLast(item);
  return (
    <Drawer
      opened={item !== null}
      onClose={onClose}
      position="right"
      size="lg"
      title={shown !== null && <Text fw={600}>{title(shown)}</Text>}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {shown !== null && children(shown)}
    </Drawer>
  );
}
