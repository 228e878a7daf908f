// Open invitations to an account, which can be withdrawn.
import { Button, Text, VisuallyHidden } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ApiError } from '../api/api-error.ts';
import type { Output } from '../api/client.ts';
import { confirm } from './confirm.tsx';
import { CutText } from './cut-text.tsx';
import { DataTable, type Column } from './data-table.tsx';
import { showSuccess } from './notify.ts';
import { Panel } from './panel.tsx';
import { roleTitle } from './role-title.ts';
import { TimeAgo } from './time-ago.tsx';

type List = Output<'GET /accounts/:account/invitations'>;

type Invitation = List['data'][number];

type Props = {
  readonly invitations: UseQueryResult<List, ApiError>;
  readonly onWithdraw: (id: string) => Promise<unknown>;
};

export function InvitationsPanel({ invitations, onWithdraw }: Props) {
  return (
    <Panel title="Invitations" description="Sent but not yet accepted." flush>
      <DataTable
        label="Invitations"
        search="Search invitations"
        columns={columns(onWithdraw)}
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

const columns = (onWithdraw: Props['onWithdraw']): readonly Column<Invitation>[] => [
  {
    title: 'E-mail',
    value: ({ email }) => email,
    phone: 'title',
    render: ({ email }) => <CutText fw={500} text={email} />,
  },
  { title: 'Role', value: ({ role }) => role, render: ({ role }) => roleTitle(role) },
  {
    title: 'Invited by',
    value: ({ invited_by: name }) => name,
    render: ({ invited_by: name }) => name ?? 'The operator',
  },
  {
    title: 'Expires',
    kind: 'ago',
    value: ({ expires_at: at }) => at,
    render: ({ expires_at: at }) => <TimeAgo at={at} />,
  },
  {
    title: '',
    align: 'right',
    width: 110,
    render: ({ id, email }) => (
      <Button
        variant="subtle"
        color="red"
        size="compact-sm"
        onClick={() =>
          confirm({
            title: 'Withdraw invitation?',
            text: `The link for ${email} stops working.`,
            action: 'Withdraw',
            danger: true,
            run: async () => {
              await onWithdraw(id);
              showSuccess('Invitation withdrawn.');
            },
          })
        }
      >
        Withdraw<VisuallyHidden> the invitation of {email}</VisuallyHidden>
      </Button>
    ),
  },
];
