// Disable, enable and revoke a key.
import { ActionIcon, Menu } from '@mantine/core';
import {
  IconBan,
  IconCopy,
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconRefresh,
} from '@tabler/icons-react';
import { useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { showSuccess, showError } from '../../parts/notify.ts';
import { keyTitle, type Key } from './key-values.ts';

const keyEndpoints = ['GET /accounts/:account/keys', 'GET /accounts/:account/keys/:key'] as const;

/** Actions that stop a key ask for confirmation. Each action shows its result. */
export function useKeyActions() {
  const disable = useChange('POST /accounts/:account/keys/:key/disable', {
    invalidates: keyEndpoints,
  });
  const enable = useChange('POST /accounts/:account/keys/:key/enable', {
    invalidates: keyEndpoints,
  });
  const revoke = useChange('POST /accounts/:account/keys/:key/revoke', {
    invalidates: keyEndpoints,
  });
  return {
    disable: (key: Key) =>
      confirm({
        title: `Disable the key “${keyTitle(key)}”?`,
        text: 'New requests are refused within seconds until you enable it again. Running requests finish.',
        action: 'Disable',
        run: () => disable.mutateAsync({ params: { key: key.id } }),
        done: `Key “${keyTitle(key)}” disabled.`,
      }),
    enable: async (key: Key) => {
      try {
        await enable.mutateAsync({ params: { key: key.id } });
        showSuccess(`Key “${keyTitle(key)}” enabled.`);
      } catch (thrown) {
        showError(thrown);
      }
    },
    revoke: (key: Key) =>
      confirm({
        title: `Revoke the key “${keyTitle(key)}”?`,
        text: `${key.hint} stops working within seconds. This cannot be undone. Its past requests stay listed.`,
        action: 'Revoke',
        danger: true,
        run: () => revoke.mutateAsync({ params: { key: key.id } }),
        done: `Key “${keyTitle(key)}” revoked.`,
      }),
  };
}

type Props = {
  readonly row: Key;
  readonly onEdit: () => void;
  readonly onRotate: () => void;
  readonly onDuplicate: () => void;
};

/** The menu at the end of a row. */
export function KeyMenu({ row, onEdit, onRotate, onDuplicate }: Props) {
  const actions = useKeyActions();
  if (row.state === 'revoked') return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${keyTitle(row)}`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={onEdit}>
          Edit
        </Menu.Item>
        <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={onRotate}>
          Rotate
        </Menu.Item>
        <Menu.Item leftSection={<IconCopy size={16} aria-hidden />} onClick={onDuplicate}>
          Duplicate
        </Menu.Item>
        {row.disabled_at === null ? (
          <Menu.Item
            leftSection={<IconPlayerPause size={16} aria-hidden />}
            onClick={() => actions.disable(row)}
          >
            Disable
          </Menu.Item>
        ) : (
          <Menu.Item
            leftSection={<IconPlayerPlay size={16} aria-hidden />}
            onClick={() => void actions.enable(row)}
          >
            Enable
          </Menu.Item>
        )}
        <Menu.Item
          color="red"
          leftSection={<IconBan size={16} aria-hidden />}
          onClick={() => actions.revoke(row)}
        >
          Revoke
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
