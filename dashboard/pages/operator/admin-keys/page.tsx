// Keys of the admin API, which programs of the operator use.
import { Badge, Button, Group, Text } from '@mantine/core';
import { IconApi, IconPlus } from '@tabler/icons-react';
import type { Output } from '../../../api/client.ts';
import { useApi, useChange } from '../../../api/use-api.ts';
import { confirm } from '../../../parts/confirm.tsx';
import { CutText } from '../../../parts/cut-text.tsx';
import { DataTable, type Column } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { KeyState } from '../../../parts/key-state.tsx';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { useUrlState } from '../../../parts/url-state.ts';
import { CreateAdminKey } from './create-admin-key.tsx';

type AdminKey = Output<'GET /operator/admin-keys'>['data'][number];

export function Page() {
  const keys = useApi('GET /operator/admin-keys', {});
  const [isCreating, setState] = useUrlState(({ create }) => create === 'yes');
  const create = (
    <Button
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={() => setState({ create: 'yes' }, { push: true })}
    >
      Create admin key
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Admin keys"
        description="Keys of programs that use the admin API, such as a shop that sells access."
        actions={create}
      />
      <Panel flush>
        <DataTable
          label="Admin keys"
          search="Search admin keys"
          rows={keys.data?.data}
          error={keys.error}
          onRetry={() => void keys.refetch()}
          columns={columns}
          rowKey={(key) => key.id}
          empty={
            <EmptyState
              icon={IconApi}
              title="No admin keys yet"
              text="A program needs one to call the admin API. Give each its own, with the scopes that it needs."
            />
          }
        />
      </Panel>
      <CreateAdminKey opened={isCreating} onClose={() => setState({ create: undefined })} />
    </>
  );
}

const columns: readonly Column<AdminKey>[] = [
  {
    title: 'Key',
    value: (key) => key.name,
    phone: 'title',
    render: (key) => (
      <>
        <Group gap="xs" wrap="nowrap">
          <CutText fw={500} text={key.name} />
          <KeyState state={stateOf(key)} />
        </Group>
        <Text size="xs" c="dimmed" ff="monospace">
          {key.hint}
        </Text>
      </>
    ),
  },
  {
    title: 'Scopes',
    value: (key) => key.scopes.length,
    render: (key) => (
      <Group gap={4} maw={360}>
        {key.scopes.map((scope) => (
          <Badge key={scope} color="gray" variant="light" tt="none">
            {scope}
          </Badge>
        ))}
      </Group>
    ),
  },
  {
    title: 'Addresses',
    value: ({ allowed_addresses: addresses }) => addresses?.join(),
    render: ({ allowed_addresses: addresses }) => (
      <Text size="sm" maw={180} style={{ overflowWrap: 'anywhere' }}>
        {addresses?.join(', ') ?? 'Any'}
      </Text>
    ),
  },
  { title: 'Expires', kind: 'ago', value: (key) => key.expires_at, never: 'Never' },
  { title: 'Created', kind: 'ago', value: (key) => key.created_at },
  { title: '', width: 110, render: (key) => <RevokeButton row={key} /> },
];

function stateOf({ revoked_at: revokedAt, expires_at: expiresAt }: AdminKey) {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
}

function RevokeButton({ row }: { readonly row: AdminKey }) {
  const revoke = useChange('POST /operator/admin-keys/:key/revoke', {
    invalidates: ['GET /operator/admin-keys', 'GET /operator/audit-log'],
  });
  if (row.revoked_at !== null) return null;
  const ask = () =>
    confirm({
      title: `Revoke the admin key “${row.name}”?`,
      text: `${row.hint} stops working at once. This cannot be undone.`,
      action: 'Revoke',
      danger: true,
      run: () => revoke.mutateAsync({ params: { key: row.id } }),
      done: `Admin key “${row.name}” revoked.`,
    });
  return (
    <Button variant="default" size="xs" aria-label={`Revoke ${row.name}`} onClick={ask}>
      Revoke…
    </Button>
  );
}
