// A list of keys, with actions to stop them.
import { ActionIcon, Group, Menu, Text } from '@mantine/core';
import { IconBan, IconDots, IconKey, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import type { Output, Query } from '../../api/client.ts';
import { useApiPages, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { CutText } from '../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { AppLink } from '../../parts/link.tsx';
import { Money } from '../../parts/money.tsx';
import { Panel } from '../../parts/panel.tsx';
import { KeyState } from '../../parts/key-state.tsx';

type Key = Output<'GET /operator/keys'>['data'][number];

type Props = {
  readonly filters: Query<'GET /operator/keys'>;
  readonly onOpen?: (key: Key) => void;
};

export function OperatorKeys({ filters, onOpen }: Props) {
  const pages = useApiPages('GET /operator/keys', { query: filters });
  const isOneAccount = filters.account !== undefined;
  return (
    <Panel flush>
      <DataTable
        label="API keys"
        pages={pages}
        columns={isOneAccount ? columns.filter(({ title }) => title !== 'Account') : columns}
        rowKey={(key) => key.id}
        onOpen={onOpen}
        empty={
          <EmptyState icon={IconKey} title={isOneAccount ? 'No keys yet' : 'No matching keys'} />
        }
      />
    </Panel>
  );
}

const columns: readonly Column<Key>[] = [
  {
    title: 'Key',
    value: (key) => key.name,
    phone: 'title',
    render: (key) => (
      <>
        <Group gap="xs" wrap="nowrap">
          <CutText fw={500} text={key.name || 'Unnamed'} />
          <KeyState state={key.state} />
        </Group>
        <Text size="xs" c="dimmed" ff="monospace">
          {key.hint}
        </Text>
      </>
    ),
  },
  {
    title: 'Account',
    value: (key) => key.account_name,
    render: (key) => (
      <AppLink to="/operator/accounts/$accountId" params={{ accountId: key.account_id }}>
        {key.account_name}
      </AppLink>
    ),
  },
  {
    title: 'Mode',
    value: (key) => key.mode,
    render: (key) => (key.mode === 'live' ? 'Live' : 'Test'),
  },
  {
    title: 'Today',
    kind: 'money',
    value: (key) => key.today.spent_micros,
    render: (key) => <Money short micros={key.today.spent_micros} />,
  },
  {
    title: 'This month',
    kind: 'money',
    value: (key) => key.this_month.spent_micros,
    render: (key) => <Money short micros={key.this_month.spent_micros} />,
  },
  { title: 'Last used', kind: 'ago', value: (key) => key.last_used_at, never: 'Never' },
  { title: '', width: 60, render: (key) => <KeyMenu row={key} /> },
];

function KeyMenu({ row }: { readonly row: Key }) {
  const invalidates = ['GET /operator/keys', 'GET /operator/audit-log'] as const;
  const disable = useChange('POST /operator/accounts/:account/keys/:key/disable', { invalidates });
  const enable = useChange('POST /operator/accounts/:account/keys/:key/enable', { invalidates });
  const revoke = useChange('POST /operator/accounts/:account/keys/:key/revoke', { invalidates });
  if (row.state === 'revoked') return null;
  const params = { account: row.account_id, key: row.id };
  const name = `“${row.name || row.hint}” of ${row.account_name}`;
  const askToDisable = () =>
    confirm({
      title: `Disable the key ${name}?`,
      text: 'New requests are refused within seconds. Owners can enable the key again. To prevent that, freeze the account.',
      action: 'Disable',
      run: () => disable.mutateAsync({ params }),
      done: `Key ${name} disabled.`,
    });
  const askToEnable = () =>
    confirm({
      title: `Enable the key ${name}?`,
      text: 'The key works again within seconds. An owner may have disabled it on purpose.',
      action: 'Enable',
      run: () => enable.mutateAsync({ params }),
      done: `Key ${name} enabled.`,
    });
  const askToRevoke = () =>
    confirm({
      title: `Revoke the key ${name}?`,
      text: `${row.hint} stops working within seconds. This cannot be undone.`,
      action: 'Revoke',
      danger: true,
      run: () => revoke.mutateAsync({ params }),
      done: `Key ${name} revoked.`,
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={`Actions for ${row.name || row.hint}`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {row.disabled_at === null ? (
          <Menu.Item leftSection={<IconPlayerPause size={16} aria-hidden />} onClick={askToDisable}>
            Disable…
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<IconPlayerPlay size={16} aria-hidden />} onClick={askToEnable}>
            Enable…
          </Menu.Item>
        )}
        <Menu.Item
          color="red"
          leftSection={<IconBan size={16} aria-hidden />}
          onClick={askToRevoke}
        >
          Revoke…
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
