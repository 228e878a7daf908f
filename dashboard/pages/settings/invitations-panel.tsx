// Open invitations.
import { Button, Text, VisuallyHidden } from '@mantine/core';
import { useIsAtLeast } from '../../api/account.ts';
import type { Output } from '../../api/client.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { confirm } from '../../parts/confirm.tsx';
import { DataTable, type Column } from '../../parts/data-table.tsx';
import { showSuccess } from '../../parts/notify.ts';
import { Panel } from '../../parts/panel.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { roleTitle } from './roles.ts';

type Invitation = Output<'GET /accounts/:account/invitations'>['data'][number];

/** For admins and owners. */
export function InvitationsPanel() {
  return useIsAtLeast('admin') && <Invitations />;
}

function Invitations() {
  const invitations = useApi('GET /accounts/:account/invitations', {});
  return (
    <Panel title="Invitations" description="Sent but not yet accepted." flush>
      <DataTable
        label="Invitations"
        columns={columns}
        rows={invitations.data?.data}
        error={invitations.error}
        onRetry={() => void invitations.refetch()}
        rowKey={({ id }) => id}
        empty={
          <Text c="dimmed" px="lg" pb="lg">
            No open invitations.
          </Text>
        }
      />
    </Panel>
  );
}

const columns: readonly Column<Invitation>[] = [
  {
    title: 'E-mail',
    value: ({ email }) => email,
    phone: 'title',
    render: ({ email }) => (
      <Text inherit fw={500} style={{ overflowWrap: 'anywhere' }}>
        {email}
      </Text>
    ),
  },
  { title: 'Role', value: ({ role }) => role, width: 150, render: ({ role }) => roleTitle(role) },
  {
    title: 'Invited by',
    value: ({ invited_by: name }) => name,
    render: ({ invited_by: name }) => name ?? 'The operator',
  },
  {
    title: 'Expires',
    kind: 'time',
    value: ({ expires_at: at }) => at,
    render: ({ expires_at: at }) => <TimeAgo at={at} />,
  },
  {
    title: '',
    align: 'right',
    width: 110,
    render: (invitation) => <WithdrawButton invitation={invitation} />,
  },
];

function WithdrawButton({ invitation: { id, email } }: { readonly invitation: Invitation }) {
  const withdraw = useChange('DELETE /accounts/:account/invitations/:invitation', {
    invalidates: ['GET /accounts/:account/invitations'],
  });
  const ask = () =>
    confirm({
      title: 'Withdraw invitation?',
      text: `The link sent to ${email} stops working.`,
      action: 'Withdraw',
      danger: true,
      run: async () => {
        await withdraw.mutateAsync({ params: { invitation: id } });
        showSuccess('Invitation withdrawn.');
      },
    });
  return (
    <Button variant="subtle" color="red" size="compact-sm" onClick={ask}>
      Withdraw<VisuallyHidden> the invitation of {email}</VisuallyHidden>
    </Button>
  );
}
