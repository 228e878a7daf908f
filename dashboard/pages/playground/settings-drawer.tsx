// Settings: beside the content on a wide screen, in a drawer on a small one.
import { Button, Drawer } from '@mantine/core';
import { IconAdjustmentsHorizontal } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Panel } from '../../parts/panel.tsx';
import { useIsWide } from '../../parts/screen.ts';

type Props = {
  /** False: in a drawer, whatever the width. */
  readonly isBeside?: boolean;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

export function SettingsDrawer({ isBeside = true, opened, onClose, children }: Props) {
  const isWide = useIsWide();
  if (isWide && isBeside) return <Panel>{children}</Panel>;
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="sm"
      title="Settings"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {children}
    </Drawer>
  );
}

/** Opens the drawer. Hidden on wide screens. */
export function SettingsButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <Button
      variant="default"
      hiddenFrom="md"
      leftSection={<IconAdjustmentsHorizontal size={16} aria-hidden />}
      onClick={onClick}
    >
      Settings
    </Button>
  );
}
